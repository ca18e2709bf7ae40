import { expect } from 'chai';
import { controllerFor, done } from '../../lib/controller/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import type { Manager } from '../../lib/manager/index.js';
import { isForbidden } from '../../lib/object/api-error.js';
import { ClusterRole, ConfigMap, Role, RoleBinding, Service } from '../../lib/object/kinds.js';
import { Operator } from '../../lib/operator/index.js';
import { sleep } from '../../lib/system/clock.js';
import { isOperatorError } from '../../lib/system/operator-error.js';
import { startOperator, testCluster } from '../../lib/testing/index.js';
import type { RunningOperator } from '../../lib/testing/index.js';
import type { StartOperatorOptions } from '../../lib/testing/start-operator.js';

const Shop = defineResource({
  group: 'shops.example',
  kind: 'Shop',
  versions: [
    {
      name: 'v1',
      schema: s.object({ spec: s.object({ act: s.string() }) }),
      status: s.object({ seen: s.optional(s.string()) }),
    },
  ],
});
const key = { name: 'a', namespace: 'default' };

describe('startOperator', () => {
  const cluster = testCluster({ crds: [Shop] });
  let operator: RunningOperator | undefined;

  afterEach(async () => {
    await operator?.stop().catch(() => undefined);
    operator = undefined;
  });

  /** Adds a controller that carries out the `act` of a shop, and writes the result to its status. */
  function setup(manager: Manager): void {
    const shops = controllerFor(Shop).complete(async ({ client }) => {
      const shop = await client.get(Shop, key);
      const seen = await acts[shop.spec.act]?.(manager).then(
        () => 'done',
        (error: unknown) => (isForbidden(error) ? String(error) : 'failed'),
      );
      if (shop.status?.seen === seen) return done();
      const body = { status: { seen } };
      await client.patch(Shop, key, { type: 'merge', body }, { subresource: 'status' });
      return done();
    });
    manager.add(shops, { requires: [{ type: Service, verbs: ['list', 'delete'] }] });
  }

  const acts: Readonly<Record<string, (manager: Manager) => Promise<unknown>>> = {
    allowed: ({ client }) => client.list(Service),
    list: ({ client }) => client.list(ConfigMap),
    status: ({ client }) =>
      client.patch(Service, key, { type: 'merge', body: {} }, { subresource: 'status' }),
    apply: ({ client }) =>
      client.apply(
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data: {} },
        { fieldManager: 'shops' },
      ),
  };

  async function start(act: string, options?: StartOperatorOptions): Promise<RunningOperator> {
    operator = await startOperator(cluster(), setup, options);
    await cluster()
      .client()
      .create(Shop.object({ metadata: key, spec: { act } }));
    return operator;
  }

  const seen = async (): Promise<string> =>
    (await cluster().client().get(Shop, key)).status?.seen ?? '';

  it('runs the operator with its declared permissions, as its ServiceAccount', async () => {
    const { eventually, user } = await start('allowed');
    await eventually(async () => expect(await seen()).to.equal('done'));
    expect(user).to.equal('system:serviceaccount:operator-system:operator-controller-manager');
    expect(cluster().requests.entries.map((entry) => entry.user)).to.include(user);
    await operator?.stop();
  });

  it('fails at the first request that no rule allows, with the missing entry of requires and the missing rule', async () => {
    const { eventually, stop } = await start('list');
    const error = await eventually(() => expect.fail('not yet'), { timeoutMs: 600_000 }).catch(
      (thrown: unknown) => thrown,
    );
    expect(isOperatorError(error, 'MissingPermission'), String(error)).to.equal(true);
    expect((error as Error).message.split('\n')).to.deep.equal([
      'controller shop: its role does not allow it to list configmaps; add the entry to requires of the controller, or the rule to config/rbac/role.yaml',
      "  requires: { type: ConfigMap, verbs: ['list'] }",
      "  rule: { apiGroups: [''], resources: [configmaps], verbs: [list] }",
    ]);
    expect(await stop().catch((thrown: unknown) => thrown)).to.equal(error);
  });

  it("fails at the first role that grants more than the operator's own role, with the missing right to escalate", async () => {
    const grants = new Operator('grants');
    grants
      .for(Shop)
      .owns(Role)
      .builds(({ builder }) => {
        const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
        return builder.role({ name: 'reader', rules });
      });
    operator = await startOperator(cluster(), grants);
    await cluster()
      .client()
      .create(Shop.object({ metadata: key, spec: { act: '' } }));
    const error = await operator.eventually(() => expect.fail('not yet')).catch(String);
    expect(error).to.include(
      'controller shop: its role does not allow it to escalate roles of rbac.authorization.k8s.io in namespace default',
    );
    expect(error)
      .to.include(
        "requires: { type: Role, names: ['reader'], namespace: 'default', verbs: ['escalate'] }",
      )
      .and.include("resources: [roles], resourceNames: ['reader'], verbs: [escalate]")
      .and.include('or require the rights of that role');
  });

  for (const [kind, requires] of [
    ['ClusterRole', "{ type: ClusterRole, names: ['pods'], verbs: ['bind'] }"],
    ['Role', "{ type: Role, names: ['pods'], namespace: 'default', verbs: ['bind'] }"],
  ] as const) {
    it(`suggests the right to bind only the ${kind} that the operator binds`, async () => {
      const readers = new Operator('readers');
      readers
        .for(Shop)
        .owns(RoleBinding)
        .builds(({ builder }) => {
          const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name: 'pods' };
          const subjects = [{ kind: 'ServiceAccount', ...key }];
          return builder.roleBinding({ name: 'readers', roleRef, subjects });
        });
      const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
      const client = cluster().client();
      await client.create({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind,
        metadata: { ...key, name: 'pods' },
        rules,
      });
      operator = await startOperator(cluster(), readers);
      await client.create(Shop.object({ metadata: key, spec: { act: '' } }));
      const error = await operator.eventually(() => expect.fail('not yet')).catch(String);
      expect(error)
        .to.include(`requires: ${requires}`)
        .and.include("resourceNames: ['pods'], verbs: [bind]");
    });
  }

  it('tells the missing entry of requires also in the response of the server', async () => {
    const { eventually, signal } = await start('status');
    const limits = { signal: new AbortController().signal };
    await eventually(async () => expect(await seen()).to.include('403'), limits);
    expect(await seen()).to.include(
      "the operator's role has no such rule; add { type: Service, subresource: 'status', verbs: ['patch'] } to requires",
    );
    expect((signal.reason as Error).message).to.include(
      "rule: { apiGroups: [''], resources: [services/status], verbs: [patch] }",
    );
  });

  it('grants the rules that a test passes in addition to the declared ones', async () => {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
    const { eventually, stop } = await start('list', { rules });
    await eventually(async () => expect(await seen()).to.equal('done'));
    await stop();
  });

  it('requires the verb create for an apply that creates an object', async () => {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] }];
    const { eventually, signal } = await start('apply', { rules });
    const limits = { signal: new AbortController().signal };
    await eventually(async () => expect(await seen()).to.include('cannot create'), limits);
    expect(String(signal.reason)).to.include("{ type: ConfigMap, verbs: ['create'] }");
  });

  it('can run an operator with the rights of an administrator', async () => {
    const { eventually, stop } = await start('list', { asAdmin: true });
    await eventually(async () => expect(await seen()).to.equal('done'));
    await stop();
  });

  it('lists the declared permissions that no request used', async () => {
    const { eventually, unusedRights, stop } = await start('allowed');
    await eventually(async () => expect(await seen()).to.equal('done'));
    expect(unusedRights()).to.have.members([
      ...['create events.events.k8s.io', 'delete services', 'update shops/status.shops.example'],
    ]);
    await stop();
  });

  it('does not list the right to bind a role as unused, since no request shows its use', async () => {
    const viewers = new Operator('viewers');
    viewers
      .for(Shop)
      .owns(RoleBinding)
      .requires({ type: ClusterRole, names: ['view'], verbs: ['bind'] })
      .builds(({ builder }) => {
        const roleRef = {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'ClusterRole',
          name: 'view',
        };
        const subjects = [{ kind: 'ServiceAccount', ...key }];
        return builder.roleBinding({ name: 'viewer', roleRef, subjects });
      });
    operator = await startOperator(cluster(), viewers);
    const client = cluster().client();
    await client.create(Shop.object({ metadata: key, spec: { act: '' } }));
    await operator.eventually(() => client.get(RoleBinding, { ...key, name: 'viewer' }));
    expect(operator.unusedRights().join()).to.not.include('bind clusterroles');
  });

  it('starts an Operator with the permissions that its controllers declare', async () => {
    const baker = new Operator('baker');
    baker
      .for(Shop)
      .owns(ConfigMap)
      .builds(({ object, builder }) =>
        builder.configMap({ name: 'menu', data: { act: object.spec.act } }),
      );
    operator = await startOperator(cluster(), baker);
    expect(operator.user).to.equal('system:serviceaccount:baker-system:baker-controller-manager');
    const client = cluster().client();
    await client.create(Shop.object({ metadata: key, spec: { act: 'bake' } }));
    const { eventually, stop } = operator;
    await eventually(() => client.get(ConfigMap, { ...key, name: 'menu' }));
    await stop();
  });

  it('lets the only replica of a sharded Operator own every object', async () => {
    const baker = new Operator('baker');
    baker
      .for(Shop)
      .owns(ConfigMap)
      .runsOn('shards')
      .builds(({ builder }) => builder.configMap({ name: 'menu' }));
    operator = await startOperator(cluster(), baker);
    const client = cluster().client();
    await client.create(Shop.object({ metadata: key, spec: { act: 'bake' } }));
    const { eventually, stop } = operator;
    await eventually(() => client.get(ConfigMap, { ...key, name: 'menu' }));
    await stop();
  });

  it('stops an operator while a reconcile waits for the virtual clock', async () => {
    const { clock } = cluster();
    let isWaiting = false;
    operator = await startOperator(cluster(), (manager) => {
      const waiting = controllerFor(Shop).complete(async ({ signal }) => {
        isWaiting = true;
        await sleep(clock, 3_600_000, signal);
        return done();
      });
      manager.add(waiting);
    });
    await cluster()
      .client()
      .create(Shop.object({ metadata: key, spec: { act: 'wait' } }));
    await operator.eventually(() => expect(isWaiting).to.equal(true));
    const stoppingMs = clock.monotonicMs();
    await operator.stop();
    expect(clock.monotonicMs() - stoppingMs).to.be.within(30_000, 120_000);
  });

  it("throws the error with which the operator's manager ends", async () => {
    const failure = new Error('out of flour');
    operator = await startOperator(cluster(), (manager) => {
      manager.add({ name: 'baker', run: () => Promise.reject(failure) });
    });
    const never = operator.eventually(() => expect.fail('not yet'), { timeoutMs: 600_000 });
    expect(await never.catch((thrown: unknown) => thrown)).to.equal(failure);
  });

  it('refuses an unknown option, and suggests the option with the nearest name', async () => {
    const cases = [
      [{ asAdmn: true }, 'startOperator: unknown option "asAdmn"; did you mean "asAdmin"?'],
      [{ rule: [] }, 'startOperator: unknown option "rule"; did you mean "rules"?'],
      [
        { client: {} },
        'startOperator: unknown option "client"; leave it out, because the cluster sets it',
      ],
      [
        { reconcileTimeoutMs: 5 },
        'startOperator: unknown option "reconcileTimeoutMs"; give it to the controller: .withOptions({ … })',
      ],
    ] as const;
    for (const [options, message] of cases) {
      const started = startOperator(cluster(), setup, options as StartOperatorOptions);
      const error: unknown = await started.catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: 'InvalidOption', message });
    }
  });
});
