/*
 * The entry `operator-builder/prometheus`: metrics that a registry of `prom-client` collects. It is an entry of
 * its own because it imports `prom-client`.
 */
export { promMetrics } from './prom-metrics.js';
