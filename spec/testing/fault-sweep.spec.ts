import { expect } from 'chai';
import { isAlreadyExists } from '../../lib/object/api-error.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { FaultSweepError, faultSweep } from '../../lib/testing/index.js';
import type { CrashScenario } from '../../lib/testing/index.js';
import type { FaultSweepOptions } from '../../lib/testing/crash-points/fault-sweep.js';
import type { OperatorStage } from '../../lib/testing/crash-points/crash-scenario.js';
import {
  by,
  configMap,
  find,
  namespace,
  note,
  right,
  shopScenario,
  watchShop,
} from './shop-scenario.js';
import type { Reconcile } from './shop-scenario.js';

async function failureOf(
  scenario: CrashScenario,
  options?: FaultSweepOptions,
): Promise<FaultSweepError> {
  return faultSweep(scenario, options).then(
    () => expect.fail('it came through'),
    (error: unknown) => {
      expect(error).to.be.instanceOf(FaultSweepError);
      return error as FaultSweepError;
    },
  );
}

const creating: Reconcile = async (client, shop) => {
  if (shop.data?.['done'] === 'yes') return;
  await client.create(configMap('env'));
  await note(client);
};

describe('faultSweep', () => {
  it('makes every request fail once in each mode that applies to it', async () => {
    const { results } = await faultSweep(shopScenario(right));
    const reads = ['serverError', 'resetBefore', 'timeout'];
    const writes = ['conflict', 'serverError', 'resetBefore', 'resetAfter', 'timeout'];
    expect(results.map(({ point }) => `${point.request} ${point.mode}`)).to.deep.equal(
      [reads, writes, writes, reads].flatMap((modes, at) =>
        modes.map((mode) => `${at + 1} ${mode}`),
      ),
    );
    expect(results.map(({ request }) => request?.request)).not.to.include(undefined);
  });

  it('can run a single request, chosen modes, and a random sample with a seed', async () => {
    const only = { step: 'create', request: 2, mode: 'conflict' } as const;
    const { results } = await faultSweep(shopScenario(right), { only });
    expect(results.map(({ point }) => point)).to.deep.equal([only]);
    const modes = ['timeout'] as const;
    const sample = { count: 2, seed: 3 };
    const drawn = await faultSweep(shopScenario(right), { modes, sample, concurrency: 2 });
    expect(drawn.results.map(({ point }) => point.mode)).to.deep.equal(['timeout', 'timeout']);
  });

  it('lets the server carry out a request whose response is lost', async () => {
    const error = await failureOf(shopScenario(creating));
    const failed = error.report.results.filter(({ problems }) => problems.length > 0);
    expect(failed.map(({ point }) => `${point.request} ${point.mode}`)).to.include('2 resetAfter');
    expect(failed.map(({ point }) => `${point.request} ${point.mode}`)).not.to.include(
      '2 resetBefore',
    );
    expect(error.message).to.include('a shop: ').and.include('failures broke the operator');
    expect(error.message).to.include(
      "alone: faultSweep(scenario, { only: { step: 'create', request: 2, mode: 'resetAfter' } })",
    );
  });

  it('accepts an operator that ignores the AlreadyExists of a create', async () => {
    await faultSweep(
      shopScenario(async (client, shop) => {
        if (shop.data?.['done'] === 'yes') return;
        await client.create(configMap('env')).catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
        await note(client);
      }),
    );
  });

  it('finds an operator that ignores an error', async () => {
    const error = await failureOf(
      shopScenario(async (client, shop) => {
        if (shop.data?.['done'] === 'yes') return;
        await client.apply(configMap('env', { a: '1' }), by).catch(() => undefined);
        await note(client);
      }),
    );
    expect(error.message).to.include('missing: ConfigMap default/env');
  });

  it('checks the invariant right after the failure, before the operator retries', async () => {
    const reconcile: Reconcile = async (client, shop) => {
      if (shop.data?.['done'] === 'yes') return;
      await client.apply(configMap('lock'), by);
      await client.delete(ConfigMap, { namespace, name: 'lock' });
      await note(client);
    };
    const scenario = shopScenario(reconcile, {
      invariant: async ({ client }) => expect(await find(client, 'lock')).to.equal(undefined),
    });
    const error = await failureOf(scenario, { only: { request: 3, mode: 'serverError' } });
    expect(error.message).to.include('invariant: create, at the failure: expected');
  });

  it('does not make the access reviews of the manager fail', async () => {
    const operator = async (stage: OperatorStage): Promise<void> => {
      const spec = { resourceAttributes: { resource: 'configmaps', verb: 'list' } };
      const typeMeta = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' };
      await stage.client.create({ ...typeMeta, metadata: {}, spec });
      await watchShop(stage, right);
    };
    const modes = ['serverError'] as const;
    const { requests, results } = await faultSweep({ ...shopScenario(right), operator }, { modes });
    expect(requests[0]?.kind).to.equal('SelfSubjectAccessReview');
    const kinds = results.map(({ request }) => request?.kind);
    expect(new Set(kinds)).to.deep.equal(new Set(['ConfigMap']));
  });

  it('fails when the scenario fails without a fault, and rejects unknown options', async () => {
    const idle = await failureOf(shopScenario(async () => undefined));
    expect(idle.message).to.include('a shop: it fails without a failed request:');
    const options = { sampel: { count: 1, seed: 1 } } as FaultSweepOptions;
    const error = await faultSweep(shopScenario(right), options).catch((thrown: unknown) => thrown);
    expect(error).to.have.property(
      'message',
      'faultSweep: unknown option "sampel"; did you mean "sample"?',
    );
  });
});
