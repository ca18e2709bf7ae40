import { expect } from 'chai';
import { system } from './system.js';
import type { OpenStage, Options, Stage } from './stage.js';

/** Declares that perishables, such as certificates, are renewed whatever else fails. */
export function keepingSuite(open: OpenStage): void {
  const failures: Record<string, (broken: Broken) => void> = {
    'an object is refused': ({ stage }) => {
      stage.resources = () => system(stage.namespace, { replicas: -1 });
    },
    'an object can not be described': ({ stage }) => {
      stage.resources = () => [
        ...system(stage.namespace),
        { apiVersion: 'no.example.com/v1', kind: 'None', metadata: { name: 'x' } },
      ];
    },
    'getAllResources throws': ({ stage }) => {
      stage.resources = () => {
        throw new Error('no such flavour');
      };
    },
    'a callback throws': ({ stage }) =>
      stage.dispatcher.addCallback(null, () => {
        throw new Error('volumes are in use');
      }),
    'sanityChecker throws': (broken) => void (broken.hook = 'sanityChecker'),
    'controllerConfigUpdater throws': (broken) => void (broken.hook = 'controllerConfigUpdater'),
  };
  for (const [name, fail] of Object.entries(failures)) {
    it(`perishablesSynchronizer runs once per reconcile although ${name}, and reports the failure`, async () => {
      const broken = await deployed(open);
      fail(broken);
      for (let pass = 0; pass < 2; pass++) {
        broken.calls = 0;
        const { conditions } = await broken.stage.pass('1.0.0');
        expect(broken.calls).to.equal(1);
        expect(conditions).to.match(/^T\/F\/T DeployCompleted (ReconcileFailed|ConfigError)$/);
      }
    });
  }

  it('errors of perishablesSynchronizer and of an object in the same reconcile are both reported', async () => {
    const broken = await deployed(open);
    for (const name of ['an object is refused', 'an object can not be described']) {
      failures[name]?.(broken);
      broken.hook = 'perishablesSynchronizer';
      const { error } = await broken.stage.pass('1.0.0');
      expect(error).to.match(/vault is sealed/);
      const { conditions = [] } = await broken.stage.status();
      const message = conditions.find(({ type }) => type === 'Degraded')?.message;
      expect(message).to.match(/vault is sealed/);
      expect(message).to.match(name.includes('refused') ? /spec\.replicas/ : /None/);
    }
  });

  it('perishablesSynchronizer runs again within its interval while a problem blocks, and the problem is reported once', async () => {
    const broken = newBroken();
    const { stage } = Object.assign(broken, {
      stage: await open(optionsOf(broken, { perishablesSyncIntervalMs: 1_234 })),
    });
    await stage.deploy('1.0.0');
    failures['an object can not be described']?.(broken);
    const result = await stage.reconciler.reconcile({ key: stage.key }, '1.0.0');
    expect(result).to.deep.equal({ type: 'requeueAfter', afterMs: 1_234 });
    stage.events.splice(0);
    broken.hook = 'perishablesSynchronizer';
    expect((await stage.pass('1.0.0')).events).to.deep.equal(['ConfigError']);
    await stage.operator.requests();
    expect((await stage.pass('1.0.0')).events).to.deep.equal([]);
    expect(await stage.writes()).to.deep.equal([]);
  });

  it('perishablesSynchronizer does not run after the signal is aborted', async () => {
    const broken = await deployed(open);
    const { stage } = broken;
    const ending = new AbortController();
    stage.resources = () => {
      ending.abort(new Error('the operator ends'));
      return system(stage.namespace);
    };
    broken.calls = 0;
    await stage.reconciler
      .reconcile({ key: stage.key, signal: ending.signal }, '1.0.0')
      .catch(() => undefined);
    expect(broken.calls).to.equal(0);
  });

  it('perishablesSynchronizer does not run before the first deployment, or when the sanity check ends the reconcile', async () => {
    const broken = newBroken();
    const stage = await open(optionsOf(broken, { sanityChecker: async () => ({}) }));
    stage.resources = () => undefined;
    await stage.pass('1.0.0');
    stage.resources = () => system(stage.namespace);
    await stage.pass('1.0.0');
    await stage.pass('1.0.0');
    expect(broken.calls).to.equal(0);
  });
}

interface Broken {
  stage: Stage;
  /** Number of renewals. */
  calls: number;
  /** Hook that throws. */
  hook?: keyof Options;
}

function newBroken(): Broken {
  return { calls: 0 } as Broken;
}

function optionsOf(broken: Broken, more: Options = {}): Options {
  const hook = (name: keyof Options) => () => {
    if (broken.hook === name) throw new Error('vault is sealed');
    return Promise.resolve(undefined);
  };
  return {
    controllerConfigUpdater: hook('controllerConfigUpdater'),
    sanityChecker: hook('sanityChecker'),
    perishablesSynchronizer: async () => {
      broken.calls++;
      await hook('perishablesSynchronizer')();
    },
    ...more,
  };
}

async function deployed(open: OpenStage): Promise<Broken> {
  const broken = newBroken();
  broken.stage = await open(optionsOf(broken));
  await broken.stage.deploy('1.0.0');
  return broken;
}
