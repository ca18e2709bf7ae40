import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { isConditionTrue } from '../../lib/object/conditions.js';
import { Event, ServiceAccount } from '../../lib/object/kinds.js';
import { Operator } from '../../lib/operator/index.js';
import { resourceChain } from '../../lib/resource/index.js';
import type { Resource } from '../../lib/resource/index.js';
import { eventually } from '../../lib/testing/index.js';
import { grant } from '../manager/grant.js';
import { DeployedOperator, beginPost, post } from './deployed-operator.js';
import { Shop, dryRuns, grantAll, operatorRules, shopOperator, users } from './deployed-shop.js';

interface PlanJson {
  readonly changed: boolean;
  readonly settled: boolean;
  readonly error?: string;
  readonly objects: readonly {
    readonly action: string;
    readonly ref: { readonly kind: string; readonly name: string };
    readonly changes: readonly { path: string; from?: unknown; to?: unknown }[];
  }[];
  readonly rollouts: readonly { readonly ref: { readonly name: string } }[];
  readonly manifests: readonly { readonly after?: { readonly kind: string } }[];
}

describe('A deployed operator that answers requests for plans', () => {
  const key = { namespace: 'default', name: 'a' };
  let cluster: EmbeddedCluster;
  let admin: ConnectedClient;
  let deployed: DeployedOperator;

  before(async () => {
    cluster = await EmbeddedCluster.start({
      crds: [Shop],
      simulateWorkloads: true,
      // Only the operator writes Events.
      controllers: { events: false },
      rbac: true,
      users,
    });
    admin = cluster.client({ user: 'system:admin' });
    await grantAll(admin);
    deployed = await DeployedOperator.start(shopOperator(), cluster.client({ user: 'operator' }));
  });

  after(async () => {
    await deployed.stop();
    await cluster.stop();
  });

  const shop = (spec: object, name = key.name): string =>
    JSON.stringify({ apiVersion: 'shops.example/v1', kind: 'Shop', metadata: { name }, spec });

  /** Sends a request. Expects that it stores nothing, causes no Event and calls no listener. */
  async function ask(body: string, token = 'o', query = '', headers = {}) {
    const since = cluster.requests.mark();
    const sent = { authorization: `Bearer ${token}`, ...headers };
    const answer = await post(`${deployed.url}/plan${query}`, body, sent);
    const reviews = ['tokenreviews', 'subjectaccessreviews'];
    const stored = cluster.requests
      .since(since)
      .entries.filter(({ verb, dryRun, resource, user }) => {
        const isWrite = !['get', 'list', 'watch'].includes(verb) && dryRun !== true;
        return user === 'operator' && isWrite && !reviews.includes(resource);
      });
    expect(stored.map(({ verb, resource }) => `${verb} ${resource}`)).to.deep.equal([]);
    return answer;
  }

  async function planned(body: string, token = 'o'): Promise<PlanJson> {
    const { status, text } = await ask(body, token, '?output=json');
    expect(status, text).to.equal(200);
    return JSON.parse(text) as PlanJson;
  }

  function actions({ objects }: PlanJson): readonly string[] {
    return objects.map(({ action, ref: { kind, name } }) => `${action} ${kind} ${name}`);
  }

  const message = (text: string): string => (JSON.parse(text) as { message: string }).message;

  it('shows the objects of a new resource, step by step, as text', async () => {
    const { status, text } = await ask(shop({ greeting: 'hi' }));
    expect(status).to.equal(200);
    expect(text).to.include('Plan for Shop default/a\n+ Shop default/a create');
    expect(text).to.include('+ ConfigMap default/texts create\n');
    expect(text).to.include('    + data.greeting: "hi"\n+ Secret default/keys create\n');
    expect(text).to.include('then, once Deployment default/web is rolled out:');
    expect(text).to.include('4 to create, 0 to configure');
  });

  it('reads YAML, and takes the default namespace from the query', async () => {
    const yaml = 'apiVersion: shops.example/v1\nkind: Shop\nmetadata:\n  name: a\nspec: {}\n';
    const { text } = await ask(yaml, 'o', '?namespace=kube-system');
    expect(text).to.include('Plan for Shop kube-system/a');
  });

  it('accepts a megabyte of JSON', async () => {
    const { status, text } = await ask(
      shop({ greeting: 'x'.repeat(1_000_000) }, 'large'),
      'o',
      '?serverSide=true',
    );
    expect(status, text).to.equal(200);
  });

  it('predicts changed fields, restarts and their cause for a running resource', async () => {
    await admin.create<Shop>(Shop.object({ metadata: key, spec: {} }));
    await eventually(async () => {
      const { status } = await admin.get(Shop, key);
      expect(isConditionTrue(status?.conditions, 'Ready')).to.equal(true);
      // The operator writes its Event a second after the reconcile.
      expect((await admin.list(Event)).items).to.have.length(1);
    });
    const plan = await planned(shop({ greeting: 'hey', password: 'second-secret' }));
    expect(actions(plan)).to.include.members([
      ...['configure Shop a', 'configure ConfigMap texts', 'configure Secret keys'],
      'configure Deployment web',
    ]);
    expect(plan.rollouts.map(({ ref }) => ref.name)).to.deep.equal(['web']);
    expect(plan.settled).to.equal(true);
  });

  it('contains no plan for a kind that a resource chain reconciles, because resource chains do not support plans', () => {
    const operator = new Operator('chains');
    const domain: Resource<Shop> = {
      name: 'domain',
      ensureCreated: () => Promise.reject(new Error('called in a plan')),
      ensureDeleted: () => Promise.resolve(),
    };
    operator.for(Shop).uses(resourceChain([domain]));
    expect(operator.plannedKinds).to.deep.equal([]);
    expect(shopOperator().plannedKinds).to.deep.equal([Shop]);
  });

  it('never shows the data of a Secret that the operator creates', async () => {
    const { text } = await ask(shop({ password: 'second-secret' }), 'o', '?output=json');
    const { objects, manifests } = JSON.parse(text) as PlanJson;
    const ofSecret = [
      ...objects.filter(({ ref }) => ref.kind === 'Secret'),
      ...manifests.filter(({ after }) => after?.kind === 'Secret'),
    ];
    expect(ofSecret).to.have.length(2);
    const shown = JSON.stringify(ofSecret);
    for (const secret of ['first-secret', 'second-secret']) {
      expect(shown).not.to.include(secret);
      expect(shown).not.to.include(Buffer.from(secret).toString('base64'));
    }
  });

  it('hides the values of objects whose kinds the user has no right to read', async () => {
    const plan = await planned(shop({ greeting: 'hey' }), 'e');
    const texts = plan.objects.find(({ ref }) => ref.kind === 'ConfigMap');
    expect(texts?.changes).to.deep.equal([
      { path: 'data.greeting', from: '(redacted)', to: '(redacted)' },
    ]);
    expect(plan.manifests).to.deep.equal([]);
  });

  it('hides the values of the resource from a user who may only update it', async () => {
    const { objects } = await planned(shop({ greeting: 'hey' }), 'e');
    const own = objects.find(({ ref }) => ref.kind === 'Shop');
    const hidden = { from: '(redacted)', to: '(redacted)' };
    expect(own?.changes).to.deep.include({ path: 'spec.greeting', ...hidden });
    expect(JSON.stringify(objects)).not.to.include('hello');
  });

  it('contains the error that the handler throws, whose context has planning: true', async () => {
    const plan = await planned(shop({ fails: true }));
    expect(plan.error).to.equal('no stock, planning: true');
  });

  for (const [name, { token, status, says }] of Object.entries({
    'without a token': { token: '', status: 401, says: 'Unauthorized' },
    'with an unknown token': { token: 'unknown', status: 401, says: 'Unauthorized' },
    'who may not post /plan': { token: 'c', status: 403, says: 'ClusterRole' },
    'who may only read the resource': { token: 'v', status: 403, says: 'may not update' },
  })) {
    it(`refuses a client ${name}`, async () => {
      const answer = await ask(shop({}), token);
      expect(answer.status, answer.text).to.equal(status);
      expect(message(answer.text)).to.include(says);
    });
  }

  it('refuses a plan for a new resource to a user who has no right to create it', async () => {
    const { status, text } = await ask(shop({}, 'other'), 'e');
    expect({ status, message: message(text) }).to.deep.equal({
      status: 403,
      message: 'user editor may not create Shop default/other: a plan needs the same permission',
    });
  });

  it("accepts a token whose audience is only operators, in the header that the API server's proxy passes on", async () => {
    const apiVersion = 'v1';
    const account = { namespace: 'default', name: 'planner' };
    await admin.create({ apiVersion, kind: ServiceAccount.kind, metadata: account });
    const request = {
      ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: account },
      spec: { audiences: ['operator-builder.io'] },
    };
    const { status: made } = (await admin.create(request, { subresource: 'token' })) as {
      readonly status?: { readonly token: string };
    };
    const name = 'system:serviceaccount:default:planner';
    const headers = { 'x-operator-authorization': `Bearer ${made?.token ?? ''}` };
    const refused = await ask(shop({}), '', '', headers);
    expect(message(refused.text)).to.include(`denied for user ${name}`);
  });

  for (const [name, { body, status, says }] of Object.entries({
    'an invalid value': { body: shop({ greeting: 1 }), status: 422, says: 'spec.greeting' },
    'an unknown field': {
      body: shop({ greting: '' }),
      status: 422,
      says: 'unknown field "spec.greting"',
    },
    'another kind': {
      body: '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}',
      status: 404,
      says: 'operator shops plans no Pod of v1; it plans Shop',
    },
    'several objects': { body: 'a: 1\n---\nb: 1', status: 400, says: 'several objects' },
    'an object without a name': { body: '{"kind":"Shop"}', status: 400, says: 'no apiVersion' },
    'invalid YAML': { body: 'a: [', status: 400, says: 'the request: ' },
    'invalid JSON': { body: '{"kind":', status: 400, says: 'is not valid JSON' },
    'JSON that nests too deeply': {
      body: `{"spec":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      status: 400,
      says: 'nests deeper',
    },
    'aliases in YAML': {
      body: 'a: &a [1]\nb: *a\n',
      status: 400,
      says: 'aliases are not accepted',
    },
    'merged aliases in YAML': {
      body: 'a: &a {b: 1}\nc: {<<: *a}\n',
      status: 400,
      says: 'aliases are not accepted',
    },
    'an invalid merge key': { body: '<<: 5', status: 400, says: 'Merge sources must be maps' },
    'aliases that become hundreds of megabytes': {
      body: `a: &a "${'x'.repeat(700_000)}"\nb: [${'*a, '.repeat(500)}]\n`,
      status: 400,
      says: 'more than 131072 bytes of YAML; send JSON',
    },
    'YAML that takes long to parse': {
      body: `a: [${'1,'.repeat(500_000)}]`,
      status: 400,
      says: 'more than 131072 bytes of YAML; send JSON',
    },
    'too long a text': { body: 'a'.repeat(2_000_000), status: 400, says: 'bytes' },
  })) {
    it(`refuses ${name} with the reason`, async () => {
      const answer = await ask(body);
      expect(answer.status, answer.text).to.equal(status);
      expect(message(answer.text)).to.include(says);
      expect(answer.text).not.to.include('first-secret');
    });
  }

  it('plans while other requests send their bodies slowly', async () => {
    await planned(shop({})); // From now on, the token is reviewed, and bodies are read at once.
    const headers = { authorization: 'Bearer o' };
    const slow = [1, 2, 3].map(() => beginPost(`${deployed.url}/plan`, headers));
    const requests = await Promise.all(slow);
    await planned(shop({}));
    for (const { end } of requests) expect(await end(shop({}))).to.equal(200);
  });

  it('answers other methods with 405, and still serves the metrics', async () => {
    const headers = { authorization: 'Bearer o' };
    expect((await post(`${deployed.url}/metrics`, '', headers)).status).to.equal(405);
  });

  it("refuses plans while the operator's role does not allow dry runs", async () => {
    await grant(admin, operatorRules);
    const { status, text } = await ask(shop({ greeting: 'hey' }));
    expect(status).to.equal(403);
    expect(message(text)).to.include("the operator's role must allow dry runs");
    await grant(admin, [...operatorRules, dryRuns]);
  });

  it('refuses plans without the option plans', async () => {
    const other = await DeployedOperator.start(
      shopOperator(),
      cluster.client({ user: 'operator' }),
      { plan: false, leaderElection: false },
    );
    const { status } = await post(`${other.url}/plan`, shop({}), { authorization: 'Bearer o' });
    expect(status).to.equal(405);
    await other.stop();
  });
});
