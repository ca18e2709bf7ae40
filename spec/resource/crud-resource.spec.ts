import { expect } from 'chai';
import fc from 'fast-check';
import { CrudResource, Patch } from '../../lib/resource/crud-resource.js';
import { isExecutionFailed, isInvalidConfig } from '../../lib/resource/errors.js';
import type { States, PatchPart } from '../../lib/resource/crud-resource.js';
import { processUpdate } from '../../lib/resource/process.js';
import type { ResourceContext } from '../../lib/resource/resource-context.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { Notes, deleteSteps, failureOf, newPass, tenant, updateSteps } from './chain-setup.js';

const parts = ['create', 'delete', 'update'] as const;
describe('CrudResource', () => {
  let notes: Notes;
  beforeEach(() => {
    notes = new Notes();
  });

  it('creates, deletes and updates, in this order, by default', async () => {
    const resource = notes.crud('r');
    expect(resource.order).to.deep.equal(['create', 'delete', 'update']);
    await resource.ensureCreated(newPass(), tenant);
    expect(notes.ran).to.deep.equal(updateSteps.map((step) => `r.${step}`));
  });

  it('calls newDeletePatch in a deletion, and applies create, delete and update in the same order as otherwise', async () => {
    await notes.crud('r').ensureDeleted(newPass(), tenant);
    expect(notes.ran).to.deep.equal(deleteSteps.map((step) => `r.${step}`));
  });

  for (const reads of [false, true]) {
    const outcome = reads
      ? 'fails if its patch reads the state'
      : 'continues if its patch does not read the state';
    it(`a deletion whose desired state cannot be computed ${outcome}`, async () => {
      const operations = {
        ...notes.operations('r', {
          getDesiredState: () => {
            throw new Error('spec.size is not a number');
          },
        }),
        newDeletePatch: (_: unknown, __: unknown, states: States<unknown>) =>
          new Patch<unknown>().setDeleteChange(reads ? states.desired : states.current),
      };
      const resource = new CrudResource({ operations });
      const failure = resource.ensureDeleted(newPass(), tenant).then(
        () => undefined,
        (error: unknown) => String(error),
      );
      const where = 'Tenant shop/acme: resource r, getDesiredState';
      expect(await failure).to.equal(
        reads ? `ResourceFailedError: ${where}: spec.size is not a number` : undefined,
      );
      expect(notes.ran.includes('r.applyDeleteChange')).to.equal(!reads);
    });
  }

  it('applies each change that a patch sets, even if the change is undefined, in the configured order', async () => {
    const permutation = fc.shuffledSubarray([...parts], { minLength: 3 });
    const subset = fc.subarray([...parts]);
    const value = fc.constantFrom(undefined, null, 0, '', false, [], {});
    const property = fc.asyncProperty(permutation, subset, value, async (order, set, change) => {
      const patch = new Patch<unknown>();
      const setters = {
        create: () => patch.setCreateChange(change),
        delete: () => patch.setDeleteChange(change),
        update: () => patch.setUpdateChange(change),
      };
      for (const part of set) setters[part]();
      const ran: unknown[] = [];
      const operations = {
        ...new Notes().operations('r'),
        newUpdatePatch: () => patch,
        applyCreateChange: (_: ResourceContext, __: unknown, got: unknown) =>
          void ran.push(['create', got]),
        applyDeleteChange: (_: ResourceContext, __: unknown, got: unknown) =>
          void ran.push(['delete', got]),
        applyUpdateChange: (_: ResourceContext, __: unknown, got: unknown) =>
          void ran.push(['update', got]),
      };
      await new CrudResource({ operations, order }).ensureCreated(newPass(), tenant);
      const due = order.filter((part) => set.includes(part));
      expect(ran).to.deep.equal(due.map((part) => [part, change]));
    });
    await fc.assert(property);
  });

  it('passes each step the object and the results of the previous steps', async () => {
    const seen: unknown[] = [];
    const state = { current: ['a'], desired: ['a', 'b'] };
    const operations = {
      ...new Notes().operations('r'),
      getCurrentState: () => state.current,
      getDesiredState: async () => state.desired,
      newUpdatePatch: (context: ResourceContext, object: unknown, states: unknown) => {
        seen.push([context.resource, context.step, object, states]);
        return new Patch<unknown>().setCreateChange(['b']);
      },
      applyCreateChange: (context: ResourceContext, object: unknown, change: unknown) =>
        void seen.push([context.resource, context.step, object, change]),
    };
    await new CrudResource({ operations }).ensureCreated(newPass(), tenant);
    expect(seen).to.deep.equal([
      ['r', 'newUpdatePatch', tenant, state],
      ['r', 'applyCreateChange', tenant, ['b']],
    ]);
  });

  it('runs all steps even if a step returns undefined as the state', async () => {
    const operations = { ...notes.operations('r'), getCurrentState: () => undefined };
    await new CrudResource({ operations }).ensureCreated(newPass(), tenant);
    expect(notes.ran).to.have.length(5);
  });

  it('calls the steps with the operations object as this', async () => {
    class Operations {
      readonly name = 'r';
      readonly #found = 'found';
      applied: string | undefined;
      getCurrentState(): string {
        return this.#found;
      }
      getDesiredState(): string {
        return this.#found;
      }
      newUpdatePatch(_: unknown, __: unknown, { current }: { current: string }): Patch<string> {
        return new Patch<string>().setUpdateChange(this.#found + current);
      }
      newDeletePatch(): undefined {
        return undefined;
      }
      applyCreateChange(): void {
        this.applied = 'created';
      }
      applyDeleteChange(): void {
        this.applied = 'deleted';
      }
      applyUpdateChange(_: unknown, __: unknown, change: string): void {
        this.applied = change;
      }
    }
    const operations = new Operations();
    await new CrudResource({ operations }).ensureCreated(newPass(), tenant);
    expect(operations.applied).to.equal('foundfound');
  });

  for (const none of [undefined, null]) {
    it(`applies nothing when the patch is ${none}`, async () => {
      const operations = { ...notes.operations('r'), newUpdatePatch: () => none as undefined };
      await new CrudResource({ operations }).ensureCreated(newPass(), tenant);
      expect(notes.ran).to.deep.equal(['r.getCurrentState', 'r.getDesiredState']);
    });
  }

  it('accepts a patch that another installed copy of operator-builder created', async () => {
    const changeOf = (part: PatchPart) => (part === 'delete' ? { change: 1 } : undefined);
    const operations = {
      ...notes.operations('r'),
      newUpdatePatch: () => ({ changeOf }) as unknown as Patch<unknown>,
    };
    await new CrudResource({ operations }).ensureCreated(newPass(), tenant);
    expect(notes.ran.at(-1)).to.equal('r.applyDeleteChange');
    expect(notes.ran).to.have.length(3);
  });

  for (const [what, patch] of [
    ['an object', { create: [1], delete: [2] }],
    ['a string', 'create'],
    ['an array', [1]],
    ['a number', 1],
    ['true', true],
    ['the class', Patch],
  ] as const) {
    it(`rejects ${what} as a patch in an error that names resource and step, and applies nothing`, async () => {
      const operations = {
        ...notes.operations('r'),
        newUpdatePatch: () => patch as unknown as Patch<unknown>,
      };
      const error = await failureOf(
        new CrudResource({ operations }).ensureCreated(newPass(), tenant),
      );
      expect(error).to.include({ code: 'ResourceFailed', resource: 'r', step: 'newUpdatePatch' });
      expect(error.message).to.contain(
        'Tenant shop/acme: resource r, newUpdatePatch: want a Patch, got ',
      );
      expect(error.cause).to.satisfy(isExecutionFailed);
      expect(notes.ran).to.deep.equal(['r.getCurrentState', 'r.getDesiredState']);
    });
  }

  describe('after each of its steps', () => {
    for (const [n, step] of updateSteps.entries()) {
      for (const cancel of ['cancelReconciliation', 'cancelResource'] as const) {
        it(`runs no further step when ${step} has called ${cancel}`, async () => {
          const resource = notes.crud('r', {
            [step]: (context: ResourceContext) => context[cancel](),
          });
          await resource.ensureCreated(newPass(), tenant);
          expect(notes.ran).to.have.length(n + 1);
        });
      }

      it(`runs no further step when the signal was aborted during ${step}`, async () => {
        const stop = new AbortController();
        const reason = new OperatorError('Stopped', 'the manager stops');
        const resource = notes.crud('r', { [step]: () => stop.abort(reason) });
        const context = newPass({ signal: stop.signal });
        const end = resource.ensureCreated(context, tenant);
        // After the last step there is nothing left to skip.
        if (step === 'applyUpdateChange') await end;
        else expect((await failureOf(end)).cause).to.equal(reason);
        expect(notes.ran).to.have.length(n + 1);
      });

      it(`ends with the error that ${step} throws`, async () => {
        const resource = notes.crud('r', { [step]: () => Promise.reject(new Error('no')) });
        const error = await failureOf(resource.ensureCreated(newPass(), tenant));
        expect(error.message).to.equal(`Tenant shop/acme: resource r, ${step}: no`);
        expect(notes.ran).to.have.length(n + 1);
      });
    }
  });

  it('cancels only the inner resource when a resource calls another resource, which cancels itself', async () => {
    const inner = notes.crud('inner', { getCurrentState: (context) => context.cancelResource() });
    const outer = notes.crud('outer', {
      getCurrentState: async (context, object) => {
        await inner.ensureCreated(context, object);
      },
    });
    await processUpdate(newPass(), tenant, [outer]);
    const all = ['outer.getCurrentState', 'inner.getCurrentState', ...updateSteps.slice(1)];
    expect(notes.ran).to.have.length(all.length);
    expect(notes.ran.at(-1)).to.equal('outer.applyUpdateChange');
  });

  describe('rejects options with', () => {
    const operations = new Notes().operations('r');
    const withoutDelete = { ...operations, applyDeleteChange: undefined };
    const bad: readonly [title: string, options: unknown, message: string][] = [
      ['no operations', {}, 'operations: want an object'],
      ['no name', { operations: { ...operations, name: '' } }, 'operations.name is missing'],
      [
        'a missing step',
        { operations: withoutDelete },
        'resource r: operations: no method applyDeleteChange',
      ],
      [
        'a repeated part',
        { operations, order: ['create', 'create', 'update'] },
        'resource r: order: ',
      ],
      ['a missing part', { operations, order: ['create', 'update'] }, 'got [create, update]'],
      ['a duplicate part', { operations, order: [...parts, 'create'] }, 'resource r: order: '],
      ['an order that is not an array', { operations, order: 'create' }, 'got string'],
    ];
    for (const [title, options, message] of bad) {
      it(title, () => {
        expect(() => new CrudResource(options as { operations: typeof operations }))
          .to.throw(message)
          .that.satisfies(isInvalidConfig);
      });
    }
  });
});
