/** The parts of a metric that dashboards rely on. */
export interface KnownMetric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
}

function known(type: KnownMetric['type'], ...labels: string[]): KnownMetric {
  return { type, labels };
}

const queue = ['name', 'controller'];

/**
 * The metrics of controller-runtime 0.24, which dashboards and alerts use.
 * Without those of the Go runtime (`go_…`) and of certificate files (`certwatcher_…`).
 */
export const theirMetrics: Readonly<Record<string, KnownMetric>> = {
  controller_runtime_reconcile_total: known('counter', 'controller', 'result'),
  controller_runtime_reconcile_errors_total: known('counter', 'controller'),
  controller_runtime_terminal_reconcile_errors_total: known('counter', 'controller'),
  controller_runtime_reconcile_panics_total: known('counter', 'controller'),
  controller_runtime_reconcile_timeouts_total: known('counter', 'controller'),
  controller_runtime_reconcile_time_seconds: known('histogram', 'controller'),
  controller_runtime_max_concurrent_reconciles: known('gauge', 'controller'),
  controller_runtime_active_workers: known('gauge', 'controller'),
  workqueue_depth: known('gauge', ...queue, 'priority'),
  workqueue_adds_total: known('counter', ...queue),
  workqueue_queue_duration_seconds: known('histogram', ...queue),
  workqueue_work_duration_seconds: known('histogram', ...queue),
  workqueue_unfinished_work_seconds: known('gauge', ...queue),
  workqueue_longest_running_processor_seconds: known('gauge', ...queue),
  workqueue_retries_total: known('counter', ...queue),
  rest_client_requests_total: known('counter', 'code', 'method', 'host'),
  leader_election_master_status: known('gauge', 'name'),
  leader_election_slowpath_total: known('counter', 'name'),
  controller_runtime_webhook_latency_seconds: known('histogram', 'webhook'),
  controller_runtime_webhook_requests_total: known('counter', 'webhook', 'code'),
  controller_runtime_webhook_requests_in_flight: known('gauge', 'webhook'),
  controller_runtime_webhook_panics_total: known('counter'),
  controller_runtime_conversion_webhook_panics_total: known('counter'),
};
