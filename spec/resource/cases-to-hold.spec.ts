import { expect } from 'chai';
import { CrudResource } from '../../lib/resource/crud-resource.js';
import { isExecutionFailed, isInvalidConfig } from '../../lib/resource/errors.js';
import { processDelete, processUpdate } from '../../lib/resource/process.js';
import type { Resource } from '../../lib/resource/resource-set.js';
import { unwrap } from '../../lib/resource/wrap.js';
import { withRetry } from '../../lib/resource/with-retry.js';
import { Notes, deleteSteps, failureOf, newPass, tenant, updateSteps } from './chain-setup.js';

// The cases delete in list order, but processDelete starts with the last resource.
const deleteReversed: typeof processDelete = (context, object, resources) =>
  processDelete(context, object, resources.toReversed());

const passes = [
  { name: 'processUpdate', process: processUpdate, method: 'ensureCreated', steps: updateSteps },
  {
    ...{ name: 'processDelete of the reversed list', process: deleteReversed },
    ...{ method: 'ensureDeleted', steps: deleteSteps },
  },
] as const;

type Context = ReturnType<typeof newPass>;

const flags = [
  {
    name: 'reconciliation canceled',
    set: (context: Context) => context.cancelReconciliation(),
    isSet: (context: Context) => context.reconciliationCanceled !== undefined,
  },
  {
    name: 'resource canceled',
    set: (context: Context) => context.cancelResource(),
    isSet: (context: Context) => context.resourceCanceled !== undefined,
  },
  {
    name: 'finalizers kept',
    set: (context: Context) => context.keepFinalizers(),
    isSet: (context: Context) => context.finalizersKept.length === 1,
  },
  {
    name: 'update allowed',
    set: (context: Context) => context.setUpdateAllowed(),
    isSet: (context: Context) => context.isUpdateAllowed,
  },
  {
    name: 'update necessary',
    set: (context: Context) => context.setUpdateNecessary(),
    isSet: (context: Context) => context.isUpdateNecessary,
  },
  {
    name: 'deletion allowed',
    set: (context: Context) => context.setDeletionAllowed(),
    isSet: (context: Context) => context.isDeletionAllowed,
  },
];

class LoopLink implements Resource {
  readonly name: string;
  wrapped: Resource | undefined;

  constructor(name: string) {
    this.name = name;
  }

  ensureCreated(): Promise<void> {
    return Promise.resolve();
  }

  ensureDeleted(): Promise<void> {
    return Promise.resolve();
  }
}

// The cases about finalizers, pauses, parallel controllers and status are in framework/suite: finalizers.ts,
// pausing.ts, parallel.ts, passes.ts.
describe('cancellation, flags, unwrap and retries in a resource chain', () => {
  for (const { name, process, method, steps } of passes) {
    describe(name, () => {
      let notes: Notes;
      beforeEach(() => {
        notes = new Notes();
      });

      it('fails for a chain without resources', async () => {
        const error = await failureOf(process(newPass(), tenant, []));
        expect(isExecutionFailed(error)).to.be.true;
        expect(error.message).to.equal('Tenant shop/acme: no resources: want at least one');
      });

      it('runs a chain of one resource', async () => {
        await process(newPass(), tenant, [notes.plain('r1')]);
        expect(notes.ran).to.deep.equal([`r1.${method}`]);
      });

      it('runs a chain of two resources in order', async () => {
        await process(newPass(), tenant, [notes.plain('r1'), notes.plain('r2')]);
        expect(notes.ran).to.deep.equal([`r1.${method}`, `r2.${method}`]);
      });

      it('skips r3 and r4 when r2 cancels the whole reconciliation', async () => {
        const r2 = notes.plain('r2', {
          [method]: (context: Context) => context.cancelReconciliation(),
        });
        const context = newPass();
        await process(context, tenant, around(r2));
        expect(notes.ran).to.deep.equal([`r1.${method}`, `r2.${method}`]);
        expect(context.reconciliationCanceled).to.deep.include({ resource: 'r2', step: method });
      });

      it('runs r3 and r4 when r2 cancels only its own resource', async () => {
        const r2 = notes.plain('r2', { [method]: (context: Context) => context.cancelResource() });
        await process(newPass(), tenant, around(r2));
        expect(notes.ran).to.deep.equal(['r1', 'r2', 'r3', 'r4'].map((r) => `${r}.${method}`));
      });

      it('runs no further step or resource after r2.getDesiredState cancels the reconciliation', async () => {
        const r2 = notes.crud('r2', {
          getDesiredState: (context) => context.cancelReconciliation(),
        });
        await process(newPass(), tenant, around(r2));
        const ofR2 = ['r2.getCurrentState', 'r2.getDesiredState'];
        expect(notes.ran).to.deep.equal([`r1.${method}`, ...ofR2]);
      });

      it('skips only the later steps of r0 when r0.applyUpdate cancels the resource', async () => {
        const acts = { applyUpdateChange: (context: Context) => context.cancelResource() };
        const r0 = notes.crud('r0', acts, { order: ['create', 'update', 'delete'] });
        await process(newPass(), tenant, [r0, notes.crud('r1')]);
        const patch = steps[2]!;
        const ofR0 = ['getCurrentState', 'getDesiredState', patch];
        const all = [...ofR0, 'applyCreateChange', 'applyUpdateChange'].map((step) => `r0.${step}`);
        expect(notes.ran).to.deep.equal([...all, ...steps.map((step) => `r1.${step}`)]);
      });

      it('applies create, update and delete although the patch sets all three changes to undefined', async () => {
        await process(newPass(), tenant, [notes.crud('r1')]);
        expect(notes.ran).to.deep.equal(steps.map((step) => `r1.${step}`));
      });

      function around(r2: Resource): Resource[] {
        return [notes.plain('r1'), r2, notes.plain('r3'), notes.plain('r4')];
      }
    });
  }

  describe('a resource that sets flags of the context', () => {
    for (const times of [0, 1, 3]) {
      const told = times === 0 ? 'unset' : `set ${times === 1 ? 'once' : 'three times'}`;
      for (const { name, set, isSet } of flags) {
        it(`the flag "${name}" changes no other flag when it is ${told}`, () => {
          const context = newPass();
          for (let n = 0; n < times; n++) set(context);
          expect(isSet(context)).to.equal(times > 0);
          expect(flags.filter((flag) => flag.isSet(context))).to.have.length(Math.min(times, 1));
        });
      }
    }
  });

  describe('unwrap of a resource', () => {
    const innermost = new Notes().plain('r1');

    it('returns a resource without wrappers unchanged', () => {
      expect(unwrap(innermost)).to.equal(innermost);
    });

    for (const depth of [1, 2, 3, 4]) {
      it(`returns the innermost resource of ${depth} wrappers`, () => {
        expect(unwrap(wrappedBy(depth))).to.equal(innermost);
      });
    }

    it('rejects a resource that wraps itself', () => {
      expectLoop(circle(1)[0]!);
    });

    it('rejects three resources that wrap each other in a circle', () => {
      expectLoop(circle(3)[0]!);
    });

    it('rejects wrappers whose innermost ones wrap each other in a circle', () => {
      expectLoop({ ...innermost, name: 'tail', wrapped: circle(3)[1]! });
    });

    function wrappedBy(depth: number): Resource {
      return depth === 0 ? innermost : { ...innermost, wrapped: wrappedBy(depth - 1) };
    }

    function circle(size: number): Resource[] {
      const links = Array.from({ length: size }, (_, n) => new LoopLink(`link${n}`));
      for (const [n, link] of links.entries()) link.wrapped = links[(n + 1) % size];
      return links;
    }

    function expectLoop(resource: Resource): void {
      expect(() => unwrap(resource))
        .to.throw('in a circle: ')
        .that.satisfies(isInvalidConfig);
    }
  });

  describe('a wrapper that retries', () => {
    for (const { failures, called } of [
      { failures: 1, called: 'two' },
      { failures: 2, called: 'three' },
    ]) {
      const often = failures === 1 ? 'once' : 'twice';
      it(`calls getCurrentState ${called} times when it fails ${often}, and each other step once`, async () => {
        const notes = new Notes();
        let left = failures;
        const getCurrentState = (): void => {
          if (left-- > 0) throw new Error('the cloud is away');
        };
        const backOffFactory = () => ({ next: () => 0 });
        const resource = withRetry(notes.crud('r1', { getCurrentState }), { backOffFactory });
        expect(resource).to.be.instanceOf(CrudResource);
        await processUpdate(newPass(), tenant, [resource]);
        const again = Array.from({ length: failures }, () => 'r1.getCurrentState');
        expect(notes.ran).to.deep.equal([...again, ...updateSteps.map((step) => `r1.${step}`)]);
      });
    }
  });
});
