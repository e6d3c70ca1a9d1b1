# Rotterdam to GBSG, both from R's survival: two Cox models are fitted to the one, and their risks of recurrence or death by
# 1, 3 and 5 years are written down for the rows of the other, with what riskRegression and survival say of them.
# Rscript conformance/validation_study.R FOLDER writes FOLDER/gbsg.csv and FOLDER/r.csv.
suppressMessages({library(survival); library(prodlim); library(riskRegression)})
folder <- commandArgs(trailingOnly = TRUE)[1]
horizons <- c(1, 3, 5)

ready <- function(d, size, years, event) {
  data.frame(years = years, event = event, size = size, three_nodes = pmin(d$nodes, 19),
             grade3 = as.integer(d$grade == 3), log_pgr = log1p(d$pgr), age = d$age)
}
# without a recurrence, follow-up is that of survival
ends <- with(rotterdam, ifelse(recur == 1, rtime, dtime)) / 365.25
developed <- ready(rotterdam, ifelse(rotterdam$size == "<=20", 0, ifelse(rotterdam$size == "20-50", 1, 2)), ends,
                   pmax(rotterdam$recur, rotterdam$death))
validated <- ready(gbsg, ifelse(gbsg$size <= 20, 0, ifelse(gbsg$size <= 50, 1, 2)), gbsg$rfstime / 365.25, gbsg$status)
validated <- validated[order(validated$years, -validated$event), ] # as ipcw needs them
# nobody is followed further than the models are asked about, so that later events do not shape them
late <- developed$years > 5
developed$event[late] <- 0
developed$years[late] <- 5
models <- list(
  clinical = coxph(Surv(years, event) ~ factor(size) + three_nodes + grade3, developed, x = TRUE),
  with_pgr = coxph(Surv(years, event) ~ factor(size) + three_nodes + grade3 + log_pgr, developed, x = TRUE)
)
risks <- lapply(models, predictRisk, newdata = validated, times = horizons)
out <- validated[, c("years", "event", "age")]
for (name in names(risks)) for (k in seq_along(horizons)) out[[paste0(name, "_", horizons[k])]] <- risks[[name]][, k]
write.csv(format(out, digits = 17, trim = TRUE), file.path(folder, "gbsg.csv"), row.names = FALSE, quote = FALSE)

rows <- list()
put <- function(model, horizon, measure, value, error = NA) {
  rows[[length(rows) + 1]] <<- data.frame(model, horizon, measure, value, error)
}
found <- Score(risks, formula = Surv(years, event) ~ 1, data = validated, times = horizons,
               metrics = c("auc", "brier"), summary = "ipa", conf.int = TRUE, cens.model = "km", conservative = FALSE)
for (r in seq_len(nrow(found$AUC$score))) with(found$AUC$score[r, ], put(as.character(model), times, "auc", AUC, se))
for (r in seq_len(nrow(found$Brier$score))) with(found$Brier$score[r, ], {
  if (model != "Null model") { put(as.character(model), times, "brier_loss", Brier, se); put(as.character(model), times, "ipa", IPA) }
})
gaps <- found$Brier$contrasts
for (r in seq_len(nrow(gaps))) with(gaps[r, ], if (reference == "clinical")
  put("clinical - with_pgr", times, "brier_loss", -delta.Brier, se))
observed <- 1 - summary(survfit(Surv(years, event) ~ 1, validated), times = horizons)$surv
for (name in names(risks)) for (k in seq_along(horizons)) {
  put(name, horizons[k], "o_e_ratio", observed[k] / mean(risks[[name]][, k]))
  put(name, horizons[k], "event_rate", observed[k])
}
# net benefit by the weights that Score uses, and that of treating all
weights <- ipcw(Hist(years, event) ~ 1, data = validated, method = "marginal", times = 5, subject.times = validated$years,
                keep = NULL, what = c("IPCW.times", "IPCW.subject.times"))
had <- validated$years <= 5 & validated$event == 1
free <- validated$years > 5
benefit <- function(acted, t) {
  (sum((acted & had) / weights$IPCW.subject.times) - t / (1 - t) * sum((acted & free) / weights$IPCW.times)) / nrow(validated)
}
for (t in c(0.2, 0.3, 0.4, 0.5)) {
  for (name in names(risks)) put(name, 5, paste0("net_benefit_at_", t), benefit(risks[[name]][, 3] >= t, t))
  put("treat all", 5, paste0("net_benefit_at_", t), benefit(TRUE, t))
}
for (name in names(risks)) {
  put(name, NA, "harrell_c", concordance(Surv(years, event) ~ risks[[name]][, 3], validated, reverse = TRUE)$concordance)
  put(name, 5, "uno_c", concordance(Surv(years, event) ~ risks[[name]][, 3], validated, reverse = TRUE,
                                    timewt = "n/G2", ymax = 5)$concordance)
}
write.csv(format(do.call(rbind, rows), digits = 17, trim = TRUE), file.path(folder, "r.csv"), row.names = FALSE, quote = FALSE)
cat("survival", as.character(packageVersion("survival")), "riskRegression", as.character(packageVersion("riskRegression")), "\n")
