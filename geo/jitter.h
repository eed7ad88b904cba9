#pragma once

namespace isochrone::geo {

/// How much a path jitters, as a law over paths: the standard deviation of its round
/// trips, by quantile of the paths.
struct PathJitter {
  double share = 0;  ///< of the paths that jitter no more
  double deviation_ms = 0;
};

/// Above its floor a path's round trips follow a Gamma law of this shape. Fitted by
/// isochrone_jitter_fit to 6,971 paths among 85 hosts of the public Internet, 19 to 20
/// July 2020 (the file is not distributed). Of a path drawn at random: the law of
/// jitter_quantile_ms() in geo/last_mile.h.
inline constexpr double kJitterShape = 0.36;
inline constexpr PathJitter kPathJitter[] = {
    {0.05, 0.262}, {0.10, 0.336}, {0.25, 0.476}, {0.50, 0.667},
    {0.75, 1.526}, {0.90, 4.022}, {0.95, 7.228}, {0.99, 29.762}};

/// That law ends here (178 ms): fewer round trips than one in 10,000 were not seen
/// often enough to be described.
inline constexpr double kJitterTop = 0.9999;

/// Like jitter_quantile_ms(), for users without a last mile, who stand in a data centre
/// and reach their sites over a backbone: exponential with mean 0.6 ms, 2.8 ms at 99 %.
/// Of a backbone of June 2020, with a Gamma law of either shape, paths under 60 ms had
/// 1.4 to 1.6 ms there and paths of all lengths 4.2 to 5.4: on the safe side where
/// milliseconds count, and two ms short across oceans. Not for data centres that meet
/// over the public Internet.
double backbone_jitter_quantile_ms(double u);

}  // namespace isochrone::geo
