import { expect } from 'chai';
import { CrudResource } from '../../lib/resource/crud-resource.js';
import { isInvalidConfig } from '../../lib/resource/invalid-config-error.js';
import { PermanentError } from '../../lib/resource/permanent-error.js';
import { processDelete, processUpdate } from '../../lib/resource/process.js';
import type { Resource } from '../../lib/resource/resource.js';
import type { ResourceContext } from '../../lib/resource/resource-context.js';
import { unwrap, wrap } from '../../lib/resource/wrap.js';
import { wrapSteps } from '../../lib/resource/wrap-steps.js';
import { withLogging } from '../../lib/resource/with-logging.js';
import { withMetrics } from '../../lib/resource/with-metrics.js';
import type { OperationMetricsOptions } from '../../lib/resource/with-metrics.js';
import { withRetry } from '../../lib/resource/with-retry.js';
import { TerminalError } from '../../lib/controller/terminal-error.js';
import { ApiError } from '../../lib/object/api-error.js';
import type { HistogramOptions, MetricLabels, Metrics } from '../../lib/system/metrics.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { seededRandom } from '../../lib/system/random.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { RecordedMetrics } from '../manager/leader-election-metrics.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import { Notes, deleteSteps, failureOf, newPass, tenant, updateSteps } from './chain-setup.js';

const away = new Error('the cloud is away');
const failAlways = (): never => {
  throw away;
};

describe('Wrappers', () => {
  let notes: Notes;
  beforeEach(() => {
    notes = new Notes();
  });

  const metrics = new RecordedMetrics();
  const wrappers: readonly [name: string, wrapper: (resource: Resource) => Resource][] = [
    ['withRetry', (resource) => withRetry(resource)],
    ['withMetrics', (resource) => withMetrics(resource, { metrics, service: 'shop' })],
    ['withLogging', (resource) => withLogging(resource)],
    ['wrapSteps', (resource) => wrapSteps(resource, (_, run) => run())],
  ];

  for (const [name, wrapper] of wrappers) {
    describe(name, () => {
      it('makes a CRUD resource of a CRUD resource, that runs the same', async () => {
        const resource = notes.crud('r', {}, { order: ['update', 'delete', 'create'] });
        const wrapped = wrapper(resource);
        expect(wrapped)
          .to.be.instanceOf(CrudResource)
          .and.include({ name: 'r', wrapped: resource });
        await resource.ensureCreated(newPass(), tenant);
        await resource.ensureDeleted(newPass(), tenant);
        const direct = notes.ran.splice(0);
        await wrapped.ensureCreated(newPass(), tenant);
        await wrapped.ensureDeleted(newPass(), tenant);
        expect(notes.ran).to.deep.equal(direct);
      });

      it('makes a resource of another', async () => {
        const resource = notes.plain('r');
        const wrapped = wrapper(resource);
        expect(wrapped).to.include({ name: 'r', wrapped: resource });
        await processUpdate(newPass(), tenant, [wrapped]);
        await processDelete(newPass(), tenant, [wrapped]);
        expect(notes.ran).to.deep.equal(['r.ensureCreated', 'r.ensureDeleted']);
      });

      it('leaves what it wraps as it is', () => {
        const plain = Object.freeze(notes.plain('r'));
        const crud = Object.freeze(notes.crud('r'));
        const operations = { ...crud.operations };
        wrapper(plain);
        wrapper(crud);
        expect(crud.operations).to.deep.equal(operations);
        expect(crud.wrapped).to.equal(undefined);
      });

      it('keeps what a subclass does beside its steps', async () => {
        class Audited extends CrudResource {
          override async ensureCreated(context: ResourceContext, object: typeof tenant) {
            notes.ran.push('audit');
            await super.ensureCreated(context, object);
          }
        }
        const resource = new Audited({ operations: notes.operations('r') });
        await wrapper(resource).ensureCreated(newPass(), tenant);
        expect(notes.ran).to.deep.equal(['audit', ...updateSteps.map((step) => `r.${step}`)]);
      });

      it('lets cancellations through', async () => {
        const r1 = notes.crud('r1', { getCurrentState: (context) => context.cancelResource() });
        const r2 = notes.crud('r2', {
          getDesiredState: (context) => context.cancelReconciliation(),
        });
        await processUpdate(newPass(), tenant, wrap([r1, r2, notes.plain('r3')], wrapper));
        expect(notes.ran).to.deep.equal([
          ...['r1.getCurrentState', 'r2.getCurrentState', 'r2.getDesiredState'],
        ]);
      });

      it('throws what the resource throws', async () => {
        const backOffFactory = () => ({ next: () => undefined });
        const quick =
          name === 'withRetry' ? (r: Resource) => withRetry(r, { backOffFactory }) : wrapper;
        const resource = notes.crud('r', { applyUpdateChange: failAlways });
        const error = await failureOf(processUpdate(newPass(), tenant, [quick(resource)]));
        expect(error).to.include({ cause: away, resource: 'r', step: 'applyUpdateChange' });
      });
    });
  }

  describe('wrap', () => {
    it('wraps each, the first wrapper innermost, and leaves the list as it is', async () => {
      const told =
        (who: string) =>
        (resource: Resource): Resource =>
          wrapSteps(resource, async (step, run) => {
            notes.ran.push(`${who} ${step.resource}.${step.name}`);
            return run();
          });
      const resources = Object.freeze([notes.plain('r1'), notes.plain('r2')]);
      const wrapped = wrap(resources, told('inner'), told('outer'));
      await processUpdate(newPass(), tenant, wrapped);
      expect(notes.ran).to.deep.equal(
        ['r1', 'r2'].flatMap((r) => [
          `outer ${r}.ensureCreated`,
          `inner ${r}.ensureCreated`,
          `${r}.ensureCreated`,
        ]),
      );
      expect(wrapped.map((resource) => unwrap(resource))).to.deep.equal(resources);
    });

    it('without wrappers gives the resources themselves', () => {
      const resource = notes.plain('r');
      expect(wrap([resource])).to.deep.equal([resource]);
    });
  });
});

describe('withRetry', () => {
  let clock: VirtualClock;
  let lines: LogLine[];
  let notes: Notes;
  beforeEach(() => {
    clock = new VirtualClock();
    lines = [];
    notes = new Notes();
  });

  function pass(signal?: AbortSignal): ResourceContext {
    const random = { ...seededRandom(1), next: () => 0.5 };
    return newPass({ clock, random, signal, logger: rememberingLogger(lines) });
  }

  async function ended<R>(promise: Promise<R>): Promise<PromiseSettledResult<R>> {
    const settled = Promise.allSettled([promise]);
    await clock.advance(3_600_000);
    return (await settled)[0];
  }

  for (const step of updateSteps) {
    it(`repeats ${step} only, when that fails`, async () => {
      let left = 3;
      const resource = notes.crud('r', {
        [step]: () => {
          if (left-- > 0) throw away;
        },
      });
      const end = await ended(processUpdate(pass(), tenant, [withRetry(resource)]));
      expect(end.status).to.equal('fulfilled');
      const times = (each: string): number => notes.ran.filter((ran) => ran === `r.${each}`).length;
      expect(updateSteps.map(times)).to.deep.equal(
        updateSteps.map((each) => (each === step ? 4 : 1)),
      );
    });
  }

  it('waits 500, 750 and 1,125 ms, then throws the last failure', async () => {
    const resource = notes.plain('r', { ensureDeleted: failAlways });
    const end = await ended(processDelete(pass(), tenant, [withRetry(resource)]));
    expect(notes.ran).to.have.length(4);
    expect(end).to.have.nested.property('reason.cause', away);
    expect(lines).to.deep.equal(
      [500, 750, 1_125].map((waitMs, n) => ({
        level: 'warn',
        message:
          `r, ensureDeleted: try ${n + 1} failed, ` +
          `the next one is in ${waitMs} ms: the cloud is away`,
        fields: { resource: 'r', step: 'ensureDeleted', attempt: n + 1, waitMs },
      })),
    );
  });

  it('begins with a new back-off in each step', async () => {
    let made = 0;
    const backOffFactory = () => {
      made++;
      let left = 1;
      return { next: () => (left-- > 0 ? 10 : undefined) };
    };
    const failed = new Set<string>();
    const failOnce = ({ step }: ResourceContext): void => {
      if (failed.has(step)) return;
      failed.add(step);
      throw away;
    };
    const acts = Object.fromEntries(updateSteps.map((step) => [step, failOnce]));
    const resource = withRetry(notes.crud('r', acts), { backOffFactory });
    const end = await ended(processUpdate(pass(), tenant, [resource]));
    expect(end.status).to.equal('fulfilled');
    expect([made, notes.ran.length]).to.deep.equal([6, 12]);
  });

  it('ends with a PermanentError, and throws its cause', async () => {
    const act = (): Promise<never> => Promise.reject(new PermanentError(away));
    const resource = notes.crud('r', { getCurrentState: act });
    const end = await ended(processUpdate(pass(), tenant, [withRetry(resource)]));
    expect(end).to.have.nested.property('reason.cause', away);
    expect(notes.ran).to.have.length(1);
  });

  const conflict = new ApiError(
    { status: 'Failure', reason: 'Conflict', message: 'it was modified', code: 409 },
    { verb: 'update', kind: 'ConfigMap', name: 'a', status: 409 },
  );
  const futile: readonly [title: string, error: Error][] = [
    ['a TerminalError', new TerminalError('no such region')],
    ['a conflict', conflict],
    ['a leadership that is lost', new OperatorError('Fenced', 'the lease is not fresh')],
  ];
  for (const [title, error] of futile) {
    it(`leaves ${title} to the next pass`, async () => {
      const resource = notes.plain('r', { ensureCreated: () => Promise.reject(error) });
      const end = await ended(processUpdate(pass(), tenant, [withRetry(resource)]));
      expect(end).to.have.nested.property('reason.cause', error);
      expect(notes.ran).to.have.length(1);
      expect(lines).to.deep.equal([]);
    });
  }

  it("ends in the middle of a wait when the signal is aborted, with the signal's reason", async () => {
    const stop = new AbortController();
    const resource = notes.plain('r', { ensureCreated: failAlways });
    const end = processUpdate(pass(stop.signal), tenant, [withRetry(resource)]);
    const failure = failureOf(end);
    await clock.advance(499);
    const reason = new OperatorError('Stopped', 'the manager stops');
    stop.abort(reason);
    expect((await failure).cause).to.equal(reason);
    expect([clock.pendingTimers, notes.ran.length]).to.deep.equal([0, 1]);
  });

  it('does not try again what fails once the signal is aborted', async () => {
    const stop = new AbortController();
    const act = (): never => {
      stop.abort(new OperatorError('Stopped', 'the manager stops'));
      throw away;
    };
    const resource = notes.plain('r', { ensureCreated: act });
    const end = processUpdate(pass(stop.signal), tenant, [withRetry(resource)]);
    expect((await failureOf(end)).cause).to.equal(away);
  });

  it('waits as long as the server asks for', async () => {
    const busy = new ApiError(
      { status: 'Failure', reason: 'TooManyRequests', message: 'busy', code: 429 },
      { verb: 'update', kind: 'ConfigMap', name: 'a', status: 429, retryAfterMs: 9_000 },
    );
    const resource = notes.plain('r', { ensureCreated: () => Promise.reject(busy) });
    await ended(processUpdate(pass(), tenant, [withRetry(resource)]));
    expect(lines.map(({ fields }) => fields['waitMs'])).to.deep.equal([9_000, 9_000, 9_000]);
  });

  it('refuses a factory that is none', () => {
    const backOffFactory = 3 as unknown as () => never;
    expect(() => withRetry(notes.plain('r'), { backOffFactory }))
      .to.throw('withRetry: backOffFactory')
      .that.satisfies(isInvalidConfig);
  });
});

describe('withMetrics', () => {
  it('counts steps, failures and seconds by service, resource and operation', async () => {
    const clock = new VirtualClock();
    const kept = new ObservedMetrics();
    const notes = new Notes();
    const act = async (): Promise<void> => {
      await clock.advance(250);
      throw away;
    };
    const resource = notes.crud('r', { getDesiredState: act });
    const options = { metrics: kept, service: 'shop' };
    await failureOf(withMetrics(resource, options).ensureCreated(newPass({ clock }), tenant));
    const labels = (operation: string) => ({ service: 'shop', resource: 'r', operation });
    const current = labels('getCurrentState');
    const desired = labels('getDesiredState');
    const name = 'operatorkit_framework_operation';
    expect(kept.value(`${name}_total`, current)).to.equal(1);
    expect(kept.value(`${name}_total`, desired)).to.equal(1);
    expect(kept.value(`${name}_error_total`, current)).to.equal(undefined);
    expect(kept.value(`${name}_error_total`, desired)).to.equal(1);
    expect(kept.observed).to.deep.equal([
      { name, value: 0, labels: current },
      { name, value: 0.25, labels: desired },
    ]);
  });

  it('has operations named after the steps, deletion included', async () => {
    const kept = new ObservedMetrics();
    const options = { metrics: kept, service: 'shop', prometheusNamespace: 'a' };
    const resource = withMetrics(new Notes().crud('r'), { ...options, prometheusSubsystem: 'b' });
    await resource.ensureDeleted(newPass(), tenant);
    expect(kept.observed.map(({ labels }) => labels['operation'])).to.deep.equal(deleteSteps);
    expect(new Set(kept.observed.map(({ name }) => name))).to.deep.equal(
      new Set(['a_b_operation']),
    );
  });

  it('counts a step once around a retry, and each try within', async () => {
    const backOffFactory = () => ({ next: () => 0 });
    const tries = async (build: (resource: Resource, kept: Metrics) => Resource) => {
      let left = 2;
      const ensureCreated = (): void => {
        if (left-- > 0) throw away;
      };
      const kept = new ObservedMetrics();
      const resource = build(new Notes().plain('r', { ensureCreated }), kept);
      await resource.ensureCreated(newPass(), tenant);
      return kept.observed.length;
    };
    const service = 'shop';
    const around = await tries((resource, metrics) =>
      withMetrics(withRetry(resource, { backOffFactory }), { metrics, service }),
    );
    const within = await tries((resource, metrics) =>
      withRetry(withMetrics(resource, { metrics, service }), { backOffFactory }),
    );
    expect([around, within]).to.deep.equal([1, 3]);
  });

  for (const [title, options] of [
    ['no service', { service: '', metrics: new RecordedMetrics() }],
    ['no metrics', { service: 'shop' }],
  ] as const) {
    it(`refuses ${title}`, () => {
      expect(() => withMetrics(new Notes().plain('r'), options as OperationMetricsOptions))
        .to.throw('withMetrics: ')
        .that.satisfies(isInvalidConfig);
    });
  }
});

describe('withLogging', () => {
  async function linesOf(resource: Resource): Promise<string[]> {
    const lines: LogLine[] = [];
    const context = newPass({ logger: rememberingLogger(lines), clock: new VirtualClock() });
    await processUpdate(context, tenant, [resource]).catch(() => undefined);
    expect(lines.every(({ fields }) => fields['resource'] === 'r')).to.be.true;
    return lines.map(({ level, message }) => `${level} ${message}`);
  }

  it('tells of the start and the end of each step, at debug', async () => {
    expect(await linesOf(withLogging(new Notes().crud('r')))).to.deep.equal(
      updateSteps.flatMap((step) => [`debug r, ${step}: started`, `debug r, ${step}: ended`]),
    );
  });

  it('warns of an error, at the level that was chosen otherwise', async () => {
    const resource = new Notes().plain('r', { ensureCreated: failAlways });
    expect(await linesOf(withLogging(resource, { level: 'info' }))).to.deep.equal([
      'info r, ensureCreated: started',
      'warn r, ensureCreated: failed: the cloud is away',
    ]);
  });

  it('is not loud about a conflict', async () => {
    const error = new OperatorError('Fenced', 'the lease is not fresh');
    const resource = new Notes().plain('r', { ensureCreated: () => Promise.reject(error) });
    expect((await linesOf(withLogging(resource))).at(-1)).to.match(/^debug .*failed/);
  });

  it('says nothing of states and changes', async () => {
    const secret = { password: 'hunter2' };
    const acts = { getCurrentState: () => secret, getDesiredState: () => secret };
    const lines: LogLine[] = [];
    const context = newPass({ logger: rememberingLogger(lines) });
    await withLogging(new Notes().crud('r', acts)).ensureCreated(context, tenant);
    expect(JSON.stringify(lines)).to.not.contain('hunter2');
  });

  it('refuses another level', () => {
    expect(() => withLogging(new Notes().plain('r'), { level: 'loud' as 'info' }))
      .to.throw('got loud')
      .that.satisfies(isInvalidConfig);
  });
});

interface Observed {
  readonly name: string;
  readonly value: number;
  readonly labels: MetricLabels;
}

/** Metrics that remember what was observed, too. */
class ObservedMetrics extends RecordedMetrics {
  readonly observed: Observed[] = [];

  override histogram: Metrics['histogram'] = ({ name }: HistogramOptions) => ({
    observe: (value, labels = {}) => void this.observed.push({ name, value, labels }),
  });
}
