import { expect } from 'chai';
import { CrudResource } from '../../lib/resource/crud-resource.js';
import { isInvalidConfig } from '../../lib/resource/errors.js';
import { processDelete, processUpdate } from '../../lib/resource/process.js';
import type { Resource } from '../../lib/resource/resource-set.js';
import type { ResourceContext } from '../../lib/resource/resource-context.js';
import { unwrap, wrap, wrapSteps, withLogging } from '../../lib/resource/wrap.js';
import { withMetrics } from '../../lib/resource/with-metrics.js';
import { withRetry } from '../../lib/resource/with-retry.js';
import { RecordedMetrics } from '../manager/leader-election-metrics.js';
import { Notes, failureOf, newPass, tenant, updateSteps } from './chain-setup.js';

const away = new Error('the cloud is away');
const failAlways = (): never => {
  throw away;
};

describe('wrappers of resources', () => {
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
      it('returns a CRUD resource for a CRUD resource, with the same steps', async () => {
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

      it('returns a plain resource for a plain resource', async () => {
        const resource = notes.plain('r');
        const wrapped = wrapper(resource);
        expect(wrapped).to.include({ name: 'r', wrapped: resource });
        await processUpdate(newPass(), tenant, [wrapped]);
        await processDelete(newPass(), tenant, [wrapped]);
        expect(notes.ran).to.deep.equal(['r.ensureCreated', 'r.ensureDeleted']);
      });

      it('rejects a value that is not a resource', () => {
        const nameless = { ensureCreated: async () => undefined };
        const wrong = [null, nameless, { name: 'r', ...nameless }];
        for (const resource of wrong) {
          expect(() => wrapper(resource as unknown as Resource))
            .to.throw(/^(wrapped resource: |resource r: no method ensureDeleted)/)
            .that.satisfies(isInvalidConfig);
        }
      });

      it('does not modify the wrapped resource', () => {
        const plain = Object.freeze(notes.plain('r'));
        const crud = Object.freeze(notes.crud('r'));
        const operations = { ...crud.operations };
        wrapper(plain);
        wrapper(crud);
        expect(crud.operations).to.deep.equal(operations);
        expect(crud.wrapped).to.equal(undefined);
      });

      it('keeps methods that a subclass of CrudResource overrides', async () => {
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

      it('passes on that a step has canceled the resource or the chain', async () => {
        const r1 = notes.crud('r1', { getCurrentState: (context) => context.cancelResource() });
        const r2 = notes.crud('r2', {
          getDesiredState: (context) => context.cancelReconciliation(),
        });
        await processUpdate(newPass(), tenant, wrap([r1, r2, notes.plain('r3')], wrapper));
        expect(notes.ran).to.deep.equal([
          ...['r1.getCurrentState', 'r2.getCurrentState', 'r2.getDesiredState'],
        ]);
      });

      it('throws the error of the resource', async () => {
        const backOffFactory = () => ({ next: () => undefined });
        const quick =
          name === 'withRetry' ? (r: Resource) => withRetry(r, { backOffFactory }) : wrapper;
        const resource = notes.crud('r', { applyUpdateChange: failAlways });
        const error = await failureOf(processUpdate(newPass(), tenant, [quick(resource)]));
        expect(error).to.include({ cause: away, resource: 'r', step: 'applyUpdateChange' });
      });
    });
  }

  it('refuse to run a step with a value that is not a context, such as the number of an attempt', async () => {
    const attempt = (_: unknown, run: (value: never) => Promise<unknown>) => run(1 as never);
    for (const resource of [notes.plain('r'), notes.crud('r')]) {
      const wrapped = wrapSteps(resource, attempt as never);
      const error = await failureOf(wrapped.ensureCreated(newPass(), tenant));
      expect(error.message).to.contain(
        'run of a wrapped step: want a context or nothing, got number',
      );
    }
    expect(notes.ran).to.deep.equal([]);
  });

  describe('wrap', () => {
    it('wraps each resource, with the first wrapper innermost, and does not change the given list', async () => {
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

    it('returns the resources themselves if there are no wrappers', () => {
      const resource = notes.plain('r');
      expect(wrap([resource])).to.deep.equal([resource]);
    });
  });
});
