import { expect } from 'chai';
import fc from 'fast-check';
import { isExecutionFailed, PermanentError, isResourceFailed } from '../../lib/resource/errors.js';
import {
  placeOf,
  processDelete,
  processUpdate,
  runResourceSet,
} from '../../lib/resource/process.js';
import type { ResourceFailedError } from '../../lib/resource/errors.js';
import type { Resource } from '../../lib/resource/resource-set.js';
import type { ResourceContext, StepName } from '../../lib/resource/resource-context.js';
import { ResourceSet } from '../../lib/resource/resource-set.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import { Notes, deleteSteps, failureOf, newPass, tenant, updateSteps } from './chain-setup.js';

describe('processUpdate and processDelete', () => {
  let notes: Notes;
  beforeEach(() => {
    notes = new Notes();
  });

  it('end with the first error, whose message names resource, step and object', async () => {
    const cause = new Error('the cloud is away');
    const fail = (): never => {
      throw cause;
    };
    const chain = [notes.plain('r1', { ensureCreated: fail }), notes.plain('r2')];
    const error = await failureOf(processUpdate(newPass(), tenant, chain));
    expect(notes.ran).to.deep.equal(['r1.ensureCreated']);
    expect(error).to.satisfy(isResourceFailed);
    expect(error.message).to.equal(
      'Tenant shop/acme: resource r1, ensureCreated: the cloud is away',
    );
    expect(error).to.include({ resourceSet: '', resource: 'r1', step: 'ensureCreated', cause });
  });

  it('name the step of a CRUD resource and the resource set in an error', async () => {
    const r1 = notes.crud('r1', {
      applyDeleteChange: () => {
        throw new Error('still in use');
      },
    });
    const context = newPass({ resourceSet: 'v1' });
    const error = await failureOf(processDelete(context, tenant, [notes.plain('r0'), r1]));
    expect(error.message).to.equal(
      'Tenant shop/acme: set v1, resource r1, applyDeleteChange: still in use',
    );
    expect(notes.ran).to.not.include('r0.ensureDeleted');
  });

  it('wrap a thrown value that is not an error', async () => {
    const r1 = notes.plain('r1', { ensureCreated: () => failWith('no') });
    const error = await failureOf(processUpdate(newPass(), tenant, [r1]));
    expect(error.message).to.equal('Tenant shop/acme: resource r1, ensureCreated: no');
    expect(error.cause).to.equal('no');
  });

  it('throw the error that a PermanentError wraps', async () => {
    const cause = new Error('no such region');
    const r1 = notes.plain('r1', {
      ensureCreated: () => Promise.reject(new PermanentError(cause)),
    });
    const error = await failureOf(processUpdate(newPass(), tenant, [r1]));
    expect(error.cause).to.equal(cause);
  });

  it('call the methods of a class instance with the instance as this', async () => {
    class Counting implements Resource {
      readonly name = 'counting';
      calls = 0;
      async ensureCreated(): Promise<void> {
        this.calls++;
      }
      async ensureDeleted(): Promise<void> {
        this.calls--;
      }
    }
    const resource = new Counting();
    await processUpdate(newPass(), tenant, [resource]);
    expect(resource.calls).to.equal(1);
    await processDelete(newPass(), tenant, [resource]);
    expect(resource.calls).to.equal(0);
  });

  it("start no resource after the signal is aborted, and throw the signal's reason", async () => {
    const stop = new AbortController();
    const reason = new OperatorError('Timeout', 'not over after 5 ms');
    const r1 = notes.plain('r1', { ensureCreated: () => stop.abort(reason) });
    const context = newPass({ signal: stop.signal });
    const error = await failureOf(processUpdate(context, tenant, [r1, notes.plain('r2')]));
    expect(notes.ran).to.deep.equal(['r1.ensureCreated']);
    expect(error.cause).to.equal(reason);
  });

  it('record the step that runs, so that the error of a time-out can name it', async () => {
    const root = newPass({ resourceSet: 'v1' });
    const seen: unknown[] = [];
    const look = (): void => void seen.push(placeOf(root));
    const chain = [
      notes.plain('r1', { ensureCreated: look }),
      notes.crud('r2', { getDesiredState: look }),
    ];
    await processUpdate(root, tenant, chain);
    expect(seen).to.deep.equal([
      { resourceSet: 'v1', resource: 'r1', step: 'ensureCreated' },
      { resourceSet: 'v1', resource: 'r2', step: 'getDesiredState' },
    ]);
  });

  describe('a resource chain that a resource cancels', () => {
    it('logs once, at level info, where and why it was canceled, and which resources were skipped', async () => {
      const lines: LogLine[] = [];
      const cancel = (context: ResourceContext): void => {
        context.cancelReconciliation('the namespace is not there yet');
        context.cancelReconciliation('another reason');
      };
      const chain = [notes.crud('r1', { getCurrentState: cancel }), notes.plain('r2')];
      const context = newPass({ logger: rememberingLogger(lines), resourceSet: 'v1' });
      await processUpdate(context, tenant, [...chain, notes.plain('r3')]);
      expect(lines.map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
        'info reconciliation canceled in set v1, r1, getCurrentState: ' +
          'the namespace is not there yet; not run: r2, r3',
      ]);
      expect(lines[0]!.fields).to.deep.include({ resourceSet: 'v1', skipped: ['r2', 'r3'] });
    });

    it('logs the same message again only at level debug, until it changes or the chain runs to its end', async () => {
      const lines: LogLine[] = [];
      let reason: string | undefined = 'a is held';
      const cancel = (context: ResourceContext): void => {
        if (reason !== undefined) context.cancelReconciliation(reason);
      };
      const chain = [notes.plain('r1', { ensureCreated: cancel })];
      const other = { ...tenant, metadata: { ...tenant.metadata, name: 'other' } };
      const run = (object = tenant): Promise<void> =>
        processUpdate(newPass({ logger: rememberingLogger(lines) }), object, chain);
      await run();
      await run();
      await run(other);
      reason = 'b is held';
      await run();
      await run();
      reason = undefined;
      await run();
      reason = 'b is held';
      await run();
      const shown = lines.map(({ level, message }) => `${level} ${/. is held/.exec(message)?.[0]}`);
      expect(shown).to.deep.equal([
        ...['info a is held', 'debug a is held', 'info a is held'],
        ...['info b is held', 'debug b is held', 'info b is held'],
      ]);
    });

    it('logs also a cancellation in the last resource, or without a reason', async () => {
      const lines: LogLine[] = [];
      const r1 = notes.plain('r1', { ensureDeleted: (context) => context.cancelReconciliation() });
      await processDelete(newPass({ logger: rememberingLogger(lines) }), tenant, [r1]);
      const text = 'reconciliation canceled in r1, ensureDeleted; nothing was left to run';
      expect(lines.map(({ message }) => message)).to.deep.equal([text]);
    });

    it('logs at level debug why the rest of a resource was skipped', async () => {
      const lines: LogLine[] = [];
      const act = (context: ResourceContext): void => context.cancelResource('nothing to do');
      const r1 = notes.crud('r1', { getCurrentState: act });
      await processUpdate(newPass({ logger: rememberingLogger(lines) }), tenant, [r1]);
      expect(lines).to.deep.equal([
        {
          level: 'debug',
          message: 'resource canceled: nothing to do',
          fields: { resource: 'r1', step: 'ensureCreated', canceledIn: 'getCurrentState' },
        },
      ]);
    });
  });

  describe('for a resource set', () => {
    it('run no resource when initContext cancels', async () => {
      const lines: LogLine[] = [];
      const set = new ResourceSet({
        name: 'v1',
        handles: () => true,
        initContext: (context) => context.cancelReconciliation('not ours today'),
        resources: [notes.plain('r1')],
      });
      const context = newPass({ logger: rememberingLogger(lines), resourceSet: set.name });
      await runResourceSet(context, tenant, { set, method: 'ensureCreated' });
      expect(notes.ran).to.deep.equal([]);
      expect(lines[0]!.message).to.equal(
        'reconciliation canceled in set v1, initContext: not ours today; not run: r1',
      );
    });

    it('name the set whose function initContext fails', async () => {
      const set = new ResourceSet({
        name: 'v1',
        handles: () => true,
        initContext: () => Promise.reject(new Error('no such region')),
        resources: [notes.plain('r1')],
      });
      const pass = runResourceSet(newPass({ resourceSet: set.name }), tenant, {
        ...{ set, method: 'ensureDeleted' },
      });
      const error = await failureOf(pass);
      expect(error.message).to.equal('Tenant shop/acme: set v1, initContext: no such region');
      expect(error).to.include({ resourceSet: 'v1', resource: '', step: 'initContext' });
      expect(notes.ran).to.deep.equal([]);
    });
  });

  describe('reject', () => {
    const ensureCreated = async (): Promise<void> => undefined;
    const ensureDeleted = ensureCreated;
    const bad: readonly [title: string, resources: unknown, message: string][] = [
      ['a value that is not an array', undefined, 'resources: want an array'],
      ['an entry that is not a resource', [null], 'resources[0]: want a resource'],
      [
        'a resource without a name',
        [{ ensureCreated, ensureDeleted }],
        'resources[0]: its name is missing',
      ],
      ['an empty name', [{ name: '', ensureCreated }], 'resources[0]: its name is missing'],
      [
        'a resource without a method',
        [{ name: 'x', ensureCreated }],
        'resource x: no method ensureDeleted',
      ],
      [
        'two resources of the same name',
        [new Notes().plain('x'), new Notes().plain('y'), new Notes().plain('x')],
        'more than one resource is named x',
      ],
    ];
    for (const [title, resources, message] of bad) {
      it(title, async () => {
        const error = await failureOf(processUpdate(newPass(), tenant, resources as Resource[]));
        expect(error).to.satisfy(isExecutionFailed);
        expect(error.message).to.contain(`Tenant shop/acme: ${message}`);
      });
    }

    it('contexts that were copied or not created by newResourceContext()', async () => {
      const copy: ResourceContext = Object.assign({}, newPass());
      for (const context of [copy, {} as ResourceContext]) {
        const error = await failureOf(processUpdate(context, tenant, [notes.plain('r1')]));
        expect(error).to.satisfy(isExecutionFailed);
        expect(error.message).to.contain('newResourceContext()');
      }
      expect(notes.ran).to.deep.equal([]);
    });
  });

  it('run the same steps as a simple model of the documentation, wherever steps cancel or fail', async () => {
    const property = fc.asyncProperty(chains, fc.boolean(), async (chain, isDelete) => {
      const ran = new Notes();
      const steps = isDelete ? deleteSteps : updateSteps;
      const resources = chain.map((acts, n) => ran.crud(`r${n}`, actsOf(acts, steps)));
      const process = isDelete
        ? processDelete(newPass(), tenant, resources.toReversed())
        : processUpdate(newPass(), tenant, resources);
      const end = process.then(
        () => 'ended',
        (error: unknown) => (error as ResourceFailedError).resource,
      );
      // A deletion whose patch does not use the desired state continues without it.
      const counting = chain.map((acts) =>
        isDelete && acts?.at === 1 && acts.act === 'throw' ? undefined : acts,
      );
      const expected = expectedOf(counting, steps);
      expect(await end).to.equal(expected.end);
      expect(ran.ran).to.deep.equal(expected.ran);
    });
    await fc.assert(property);
  });
});

/** Rejects with any value, as plain JavaScript can. */
function failWith(value: unknown): Promise<never> {
  return Promise.resolve().then(() => {
    throw value;
  });
}

type Act = 'cancelReconciliation' | 'cancelResource' | 'throw';

/** The action of a resource in one of its steps; `at` is the number of the step. */
interface ActIn {
  readonly at: number;
  readonly act: Act;
}

const chains = fc.array(
  fc.option(
    fc.record({
      at: fc.nat({ max: 5 }),
      act: fc.constantFrom<Act>('cancelReconciliation', 'cancelResource', 'throw'),
    }),
    { nil: undefined, freq: 3 },
  ),
  { minLength: 1, maxLength: 6 },
);

function actsOf(acts: ActIn | undefined, steps: readonly StepName[]): Parameters<Notes['crud']>[1] {
  if (acts === undefined) return {};
  const { at, act } = acts;
  return {
    [steps[at]!]: (context: ResourceContext) => {
      if (act === 'throw') throw new Error('on purpose');
      context[act]();
    },
  };
}

/** Returns the steps that run: of each resource up to its acting step, and none after an action that ends the chain. */
function expectedOf(
  chain: readonly (ActIn | undefined)[],
  steps: readonly StepName[],
): { readonly ran: readonly string[]; readonly end: string } {
  const ending = chain.findIndex((acts) => acts !== undefined && acts.act !== 'cancelResource');
  const reached = ending < 0 ? chain : chain.slice(0, ending + 1);
  const ran = reached.flatMap((acts, n) =>
    steps.slice(0, (acts?.at ?? steps.length) + 1).map((step) => `r${n}.${step}`),
  );
  const hasFailed = chain[ending]?.act === 'throw';
  return { ran, end: hasFailed ? `r${ending}` : 'ended' };
}
