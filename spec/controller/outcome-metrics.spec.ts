import { expect } from 'chai';
import { Registry } from 'prom-client';
import { controllerFor, done, requeueAfter, TerminalError } from '../../lib/controller/index.js';
import type { Result } from '../../lib/controller/index.js';
import { ApiError } from '../../lib/object/api-error.js';
import { promMetrics } from '../../lib/prometheus/index.js';
import { Thing } from '../cache/fake-server.js';
import { ControllerSetup } from './controller-setup.js';

const apiError = (status: number, reason: string, causes: object[] = []): ApiError =>
  new ApiError({ reason, details: { causes } }, { verb: 'update', kind: 'Thing', status });
const failing = (error: unknown) => async (): Promise<Result> => {
  throw error;
};

describe('The metrics of reconciles', () => {
  const counted = 'controller_runtime_reconcile_total{result=';
  const errors = 'controller_runtime_reconcile_errors_total{';
  const outcomes: Record<string, readonly [() => Promise<Result>, Record<string, number>]> = {
    'a success': [async () => done(), { [`${counted}success`]: 1 }],
    'a requested requeue': [async () => requeueAfter(60_000), { [`${counted}requeue_after`]: 1 }],
    'an error': [failing(new Error('no')), { [`${counted}error`]: 1, [errors]: 1 }],
    'a terminal error': [
      failing(new TerminalError('no')),
      {
        [`${counted}error`]: 1,
        [errors]: 1,
        'controller_runtime_terminal_reconcile_errors_total{': 1,
      },
    ],
    'a conflict': [
      failing(apiError(409, 'Conflict')),
      { [`${counted}requeue`]: 1, 'operator_builder_reconcile_conflicts_total{': 1 },
    ],
    'a wait for a namespace': [
      failing(apiError(403, 'Forbidden', [{ reason: 'NamespaceTerminating' }])),
      { [`${counted}requeue`]: 1 },
    ],
    'a bug': [
      failing(new TypeError('x is not a function')),
      { [`${counted}error`]: 1, [errors]: 1, 'controller_runtime_reconcile_panics_total{': 1 },
    ],
    'a time-out': [
      () => new Promise(() => undefined),
      {
        [`${counted}error`]: 1,
        [errors]: 1,
        'controller_runtime_reconcile_timeouts_total{': 1,
      },
    ],
  };
  for (const [name, [handler, wanted]] of Object.entries(outcomes)) {
    it(`count ${name} once`, async () => {
      const registry = new Registry();
      const setup = new ControllerSetup();
      const controller = controllerFor(Thing)
        .withOptions({ reconcileTimeoutMs: 1_000 })
        .complete(handler);
      setup.things.put('a');
      const running = await setup.start(controller, { metrics: promMetrics(registry) });
      await setup.clock.advance(name === 'a time-out' ? 1_000 : 0);
      const found: Record<string, number> = {};
      for (const { name: metric, values } of await registry.getMetricsAsJSON()) {
        for (const { value, labels } of values) {
          if (!metric.includes('reconcile') || !metric.endsWith('_total') || value === 0) continue;
          const { result } = labels as { result?: string };
          found[`${metric}{${result === undefined ? '' : `result=${result}`}`] = value;
        }
      }
      expect(found).to.deep.equal(wanted);
      await setup.stop(running);
    });
  }
});
