data {
  int<lower=1> rows; int<lower=1> judges;
  array[rows, judges] int<lower=-1, upper=1> vote;   // -1: none
  vector[rows] tally;
  vector<lower=0>[2] share_prior; vector<lower=0>[2] rate_prior;
}
parameters {
  real<lower=0, upper=1> prevalence;
  vector<lower=0, upper=1>[judges] sensitivity;
  vector<lower=0, upper=1>[judges] specificity;
}
model {
  vector[rows] total;
  vector[judges] hit = log(sensitivity);     vector[judges] miss = log1m(sensitivity);
  vector[judges] right = log(specificity);   vector[judges] wrong = log1m(specificity);
  for (i in 1:rows) {
    real good = log(prevalence);
    real bad = log1m(prevalence);
    for (j in 1:judges) {
      if (vote[i, j] == 1) { good += hit[j]; bad += wrong[j]; }
      else if (vote[i, j] == 0) { good += miss[j]; bad += right[j]; }
    }
    total[i] = log_sum_exp(good, bad);
  }
  target += dot_product(tally, total);
  prevalence ~ beta(share_prior[1], share_prior[2]);
  sensitivity ~ beta(rate_prior[1], rate_prior[2]);
  specificity ~ beta(rate_prior[1], rate_prior[2]);
}
