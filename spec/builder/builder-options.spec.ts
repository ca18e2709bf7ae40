import { expect } from 'chai';
import { requeueAfterOf } from '../../lib/apply/index.js';
import { Builder } from '../../lib/builder/index.js';
import type { BuilderOptions } from '../../lib/builder/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { resolveBuilderOptions } from '../../lib/builder/builder-options.js';

const options: BuilderOptions = {
  client: {} as BuilderOptions['client'],
  owner: {
    apiVersion: 'example.com/v1',
    kind: 'Shop',
    metadata: { name: 'shop', namespace: 'shops', uid: 'u' },
  },
  controllerName: 'shop-operator',
};

describe('Builder options', () => {
  it('maxDeletions is by default half of the owned objects, but at least five; a percentage has no such minimum', () => {
    const limits = (maxDeletions: BuilderOptions['maxDeletions'], ...owned: readonly number[]) => {
      const limit = resolveBuilderOptions({ ...options, maxDeletions }).maxDeletions;
      return owned.map((count) => limit({ owned: count, staying: 1 }));
    };
    expect(limits(undefined, 1, 8, 12, 13, 100)).to.deep.equal([5, 5, 6, 6, 50]);
    expect(limits('100%', 20)).to.deep.equal([20]);
    expect(limits('0%', 1, 5, 100)).to.deep.equal([0, 0, 0]);
    expect(limits('50%', 3)).to.deep.equal([1]);
    expect(limits(0, 20)).to.deep.equal([0]);
  });

  it('maxDeletions refuses the deletion of all owned objects, unless a number or percentage is set', () => {
    const limitOf = (maxDeletions: BuilderOptions['maxDeletions']): number =>
      resolveBuilderOptions({ ...options, maxDeletions }).maxDeletions({ owned: 3, staying: 0 });
    expect([limitOf(undefined), limitOf('100%'), limitOf(3)]).to.deep.equal([0, 3, 3]);
  });

  const refused: readonly [Partial<BuilderOptions>, string][] = [
    [{ controllerName: '' }, 'controllerName'],
    [{ controllerName: 'a'.repeat(129) }, 'controllerName'],
    [{ controllerName: 'ü' }, 'controllerName'],
    [{ labels: { 'no label': 'x' } }, 'labels'],
    [{ scope: '' }, 'scope'],
    [{ scope: 'no label' }, 'scope'],
    [{ maxDeletions: -1 }, 'maxDeletions'],
    [{ maxDeletions: 1.5 }, 'maxDeletions'],
    [{ maxDeletions: '101%' }, 'maxDeletions'],
    [{ maxDeletions: 'all' as '1%' }, 'maxDeletions'],
    [{ onImmutable: 'Fail' as 'fail' }, 'onImmutable: want "fail" or "recreate"'],
    [{ adopt: 'false' as never }, 'adopt: want true or false, got "false"'],
    [{ pruneClaims: 'false' as never }, 'pruneClaims'],
    [{ onlyOwned: 'false' as never }, 'onlyOwned'],
    [{ orderCreation: 'false' as never }, 'orderCreation'],
    [{ adoptManagers: 'manager' as never }, 'adoptManagers: want a list, got string'],
    [{ rolloutOrder: 'main' as never }, 'rolloutOrder: want a list'],
    [{ owns: ConfigMap as never }, 'owns: want a list, got object'],
    [{ labels: 'app' as never }, 'labels: want an object'],
  ];
  for (const [bad, text] of refused) {
    it(`reject ${JSON.stringify(bad).slice(0, 40)}`, () => {
      expect(() => new Builder({ ...options, ...bad }))
        .to.throw(text)
        .with.property('code', 'InvalidOption');
    });
  }

  it('reject an unknown option and an unknown rollout value, and list the valid ones', () => {
    const misspelt = { ...options, onlyOwnd: true } as BuilderOptions;
    expect(() => new Builder(misspelt))
      .to.throw('Builder: unknown option "onlyOwnd"; did you mean "onlyOwned"?')
      .with.property('code', 'InvalidOption');
    const other = { ...options, rollout: 'paralel' as 'parallel' };
    expect(() => new Builder(other)).to.throw("rollout: want 'ordered' or 'parallel'");
    const rolloutOf = (rollout?: 'ordered' | 'parallel') =>
      resolveBuilderOptions({ ...options, rollout }).rollout;
    expect([rolloutOf(), rolloutOf('ordered'), rolloutOf('parallel')]).to.deep.equal([
      ...['ordered', 'ordered', 'parallel'],
    ]);
  });

  it('default the namespace to that of the owner, or to the option namespace for a cluster-scoped owner', () => {
    expect(resolveBuilderOptions(options).namespace).to.equal('shops');
    const clusterScoped = { ...options.owner, metadata: { name: 'shop', uid: 'u' } };
    const placed = { ...options, owner: clusterScoped, namespace: 'elsewhere' };
    expect(resolveBuilderOptions(placed).namespace).to.equal('elsewhere');
  });
});

describe('A Builder chain', () => {
  it('is immutable: each link returns a new Builder', async () => {
    const empty = new Builder(options);
    const one = empty.configMap({ name: 'one' });
    const two = one.configMap({ name: 'two' });
    const sizes = await Promise.all(
      [empty, one, two].map(async (chain) => (await chain.store()).references().length),
    );
    expect(sizes).to.deep.equal([0, 1, 2]);
  });

  it('requires exactly one of podSpec and podTemplate', () => {
    const podSpec = { containers: [{ name: 'web', image: 'registry.example/web:1' }] };
    const builder = new Builder(options);
    expect(() => builder.deployment({ name: 'a' })).to.throw(
      'Deployment a: give exactly one of podSpec and podTemplate',
    );
    expect(() => builder.job({ name: 'a', podSpec, podTemplate: { spec: podSpec } })).to.throw(
      'Job a: give exactly one',
    );
  });

  it('names the right option for a misspelt podSpec', () => {
    const misspelt = { name: 'a', podspec: {} } as never;
    const builder = new Builder(options);
    for (const chaining of [
      () => builder.deployment(misspelt),
      () => builder.statefulSet(misspelt),
      () => builder.daemonSet(misspelt),
      () => builder.job(misspelt),
      () => builder.cronJob(misspelt),
    ]) {
      expect(chaining)
        .to.throw(/^\w+ a: unknown option "podspec"; did you mean "podSpec"\?$/)
        .with.property('code', 'InvalidOption');
    }
  });

  it('rejects values of wrong types for options of workloads, which plain JavaScript does not prevent', () => {
    const podSpec = { containers: [{ name: 'web', image: 'web:1' }] };
    for (const [bad, problem] of [
      [{ rolloutOn: 'env' }, 'StatefulSet web: rolloutOn: want a list, got string'],
      [{ envFromConfigMap: 'env' }, 'envFromConfigMap: want a list'],
      [{ envFromSecret: null }, 'envFromSecret: want a list, got null'],
      [{ followReferences: 'false' }, 'followReferences: want true or false'],
      [{ unblock: 'false' }, 'unblock: want true or false'],
      [{ podSpec: { containers: [null] } }, 'containers of its pods: want objects in the list'],
      [{ podSpec: { containers: [false] } }, 'containers of its pods: want objects in the list'],
    ] as const) {
      const chain = (): unknown =>
        new Builder(options).statefulSet({ name: 'web', podSpec, ...bad } as never);
      expect(chain).to.throw(problem).with.property('code', 'InvalidOption');
    }
    const absent = { name: 'web', podSpec, podLabels: null, podAnnotations: null } as never;
    expect(() => new Builder(options).statefulSet(absent)).not.to.throw();
  });

  it('rejects a pod specification without a list of containers', () => {
    const builder = new Builder(options);
    const wrong = { container: [{ name: 'web', image: 'web:1' }] } as never;
    for (const pods of [{ podSpec: wrong }, { podTemplate: { spec: wrong } }]) {
      for (const chain of ['statefulSet', 'job'] as const) {
        expect(() => builder[chain]({ name: 'a', ...pods }))
          .to.throw(/^\w+ a: containers of its pods: want a list, got undefined$/)
          .with.property('code', 'InvalidOption');
      }
    }
  });

  it('does not quote containers that are not a list in its error', () => {
    const containers = { name: 'web', env: [{ name: 'PASSWORD', value: 'hunter2' }] };
    const podSpec = { containers } as never;
    expect(() => new Builder(options).deployment({ name: 'a', podSpec })).to.throw(
      /^Deployment a: containers of its pods: want a list, got object$/,
    );
  });
});

describe('requeueAfterOf', () => {
  it('returns the shortest wait of the results, or undefined if no result has a wait', () => {
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' };
    const result = (requeueAfterMs?: number): Parameters<typeof requeueAfterOf>[0][number] => ({
      ...{ operation: 'pending', ref, changes: [], reason: 'waits' },
      ...(requeueAfterMs !== undefined && { requeueAfterMs }),
    });
    expect(requeueAfterOf([result(), result(30), result(10)])).to.equal(10);
    expect(requeueAfterOf([result()])).to.equal(undefined);
  });
});
