import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { Client } from '../../lib/client/index.js';
import { controllerFor, done } from '../../lib/controller/index.js';
import type { ReconcileContext } from '../../lib/controller/index.js';
import type {
  HttpAnswer,
  HttpQuestion,
  Reviewed,
  ReviewedAccess,
} from '../../lib/manager/index.js';
import type {
  ConfigMap,
  Deployment,
  ObjectReference,
  UnstructuredObject,
} from '../../lib/object/index.js';
import { planAnswers } from '../../lib/plan/index.js';
import { VirtualClock, eventually } from '../../lib/testing/index.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import { Shop } from './deployed-shop.js';

const key = { namespace: 'default', name: 'a' };
const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };

interface Status {
  readonly message: string;
  readonly code: number;
}

interface PlanJson {
  readonly objects: readonly {
    readonly ref: ObjectReference;
    readonly changes: readonly { path: string; from: string; to: string }[];
  }[];
  readonly rollouts: PlanJson['objects'];
  readonly steps: readonly PlanJson[];
  readonly manifests: readonly { readonly after: UnstructuredObject }[];
}

describe('Answers to requests for plans', () => {
  let cluster: EmbeddedCluster;
  let client: Client;
  let clock: VirtualClock;
  let lines: LogLine[];
  let answers: ReturnType<typeof planAnswers>;
  /** Functions that end the waiting reconciles. */
  let resume: (() => void)[];
  let waits: boolean;

  before(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Shop] });
    client = cluster.client();
  });

  after(() => cluster.stop());

  beforeEach(() => {
    clock = new VirtualClock();
    [lines, resume, waits] = [[], [], false];
    const controller = controllerFor(Shop).complete(reconcile);
    const operator = {
      name: 'shops',
      setup: (manager: { add: (it: typeof controller) => unknown }) => void manager.add(controller),
    };
    answers = planAnswers({ operator, kinds: [Shop], client, clock });
  });

  /** Writes a workload and, into two namespaces, the greeting. */
  async function reconcile({ client: own }: ReconcileContext) {
    if (waits) await new Promise<void>((resolve) => resume.push(resolve));
    const { spec } = await own.get(Shop, key);
    const options = { fieldManager: 'shops', force: true };
    for (const namespace of ['default', 'kube-system']) {
      const metadata = { namespace, name: 'texts' };
      const data = { greeting: spec.greeting };
      await own.apply<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, options);
    }
    await own.apply<Deployment>(
      {
        ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
        metadata: { namespace: 'default', name: 'web' },
        spec: {
          selector: { matchLabels: labels },
          template: { ...template, spec: { containers: [{ name: 'web', image: spec.image }] } },
        },
      },
      options,
    );
    return done();
  }

  const shop = (spec: object, metadata: object = {}): string =>
    JSON.stringify({
      ...{ apiVersion: Shop.apiVersion, kind: 'Shop' },
      metadata: { name: 'a', ...metadata },
      spec,
    });

  interface Asking {
    readonly query?: string;
    readonly review?: Reviewed;
    readonly allows?: (attributes: Record<string, unknown>) => boolean;
    readonly signal?: AbortSignal;
  }

  /** Asks as a user with the rights for which `allows` returns true, by default all. */
  async function ask(
    body: string,
    { query = '', allows = () => true, ...more }: Asking = {},
  ): Promise<HttpAnswer> {
    const { signal = new AbortController().signal, review = { user: { username: 'eve' } } } = more;
    const access = {
      review: () => Promise.resolve(review),
      allows: async (_: unknown, attributes: Record<string, unknown>) => allows(attributes),
    } as unknown as ReviewedAccess;
    const question: HttpQuestion = {
      ...{ method: 'POST', url: new URL(`https://shops/plan${query}`), headers: {}, signal },
      body: (limit) => Promise.resolve(Buffer.byteLength(body) > limit ? undefined : body),
      logger: rememberingLogger(lines),
    };
    return answers(question, access);
  }

  const failureOf = ({ status, headers, body }: HttpAnswer): object => {
    expect(headers).to.include({ 'content-type': 'application/json' });
    const { message, code } = JSON.parse(String(body)) as Status;
    expect(code).to.equal(status);
    return { status, message };
  };

  it('makes two plans at the same time, and a third when one of them has ended', async () => {
    waits = true;
    const first = [ask(shop({})), ask(shop({}))];
    await eventually(() => expect(resume).to.have.lengthOf(2));
    const third = await ask(shop({}));
    expect(failureOf(third)).to.deep.equal({
      ...{ status: 429, message: '2 plans are under way; try again later' },
    });
    expect(third.headers).to.include({ 'retry-after': '1' });
    waits = false;
    for (const each of resume) each();
    for (const answer of await Promise.all(first)) expect(answer.status).to.equal(200);
    expect((await ask(shop({}))).status).to.equal(200);
    expect(clock.pendingTimers).to.equal(0);
  });

  it('ends a plan that takes a minute', async () => {
    waits = true;
    const answer = ask(shop({}));
    await eventually(() => expect(resume).to.have.lengthOf(1));
    await clock.advance(59_999);
    expect(await Promise.race([answer, Promise.resolve('goes on')])).to.equal('goes on');
    await clock.advance(1);
    const late = 'the plan took longer than 60 s';
    expect(failureOf(await answer)).to.deep.equal({ status: 504, message: late });
  });

  it('reads bodies up to the limits of YAML and JSON', async () => {
    const yaml = `apiVersion: ${Shop.apiVersion}\nkind: Shop\nmetadata: { name: a }\nspec: {}\n#`;
    const sized = (text: string, bytes: number): string => text.padEnd(bytes, ' ');
    const json = { yaml: 131_072, json: 1_572_864 };
    for (const [text, limit, says] of [
      [yaml, json.yaml, 'has more than 131072 bytes of YAML; send JSON'],
      [shop({}), json.json, 'has more than 1572864 bytes'],
    ] as const) {
      expect((await ask(sized(text, limit))).status).to.equal(200);
      expect(failureOf(await ask(sized(text, limit + 1)))).to.deep.equal({
        ...{ status: 400, message: `the request ${says}: want a custom resource` },
      });
    }
  });

  it('applies the resource with the options in the query parameters', async () => {
    const given = JSON.parse(shop({ image: 'shop:2' }, key)) as UnstructuredObject;
    await client.apply(given, { fieldManager: 'gitops' });
    const text = shop({ image: 'shop:3' });
    expect((await ask(text)).status).to.equal(200);
    const other = '?serverSide=true&fieldManager=me';
    expect(await ask(text, { query: other })).to.include({ status: 409 });
    expect((await ask(text, { query: `${other}&forceConflicts=true` })).status).to.equal(200);
    await client.delete(Shop, key);
  });

  it('prints unchanged objects, or JSON, if the query requests this', async () => {
    await client.create(Shop.object({ metadata: key, spec: {} }));
    const unchanged = '  Shop default/a unchanged\n';
    const same = shop({});
    const brief = await ask(same);
    expect(brief.status).to.equal(200);
    expect(brief.body).to.not.include(unchanged);
    expect((await ask(same, { query: '?unchanged=true' })).body).to.include(unchanged);
    const { headers, body } = await ask(same, { query: '?output=json' });
    expect(headers).to.deep.equal({ 'content-type': 'application/json' });
    expect(JSON.parse(String(body))).to.include({ changed: true, settled: true });
    expect(lines).to.have.lengthOf(3);
    expect(lines[0]).to.deep.equal({
      ...{ level: 'info', message: 'planned' },
      fields: { object: 'Shop default/a', username: 'eve', changed: true, settled: true },
    });
    await client.delete(Shop, key);
  });

  it('hides values of kinds and namespaces that the caller cannot read, in the plan and in each step', async () => {
    await client.create(Shop.object({ metadata: key, spec: {} }));
    await reconcile({ client } as ReconcileContext);
    const allows = ({ verb, resource, namespace }: Record<string, unknown>): boolean =>
      verb !== 'get' || (resource !== 'deployments' && namespace !== 'kube-system');
    const wanted = shop({ greeting: 'hey', image: 'shop:2' });
    const { body } = await ask(wanted, { query: '?output=json', allows });
    const { objects, rollouts, steps, manifests } = JSON.parse(String(body)) as PlanJson;
    const changes = ({ ref, changes: own }: PlanJson['objects'][0]): readonly string[] =>
      own.map(({ path, from, to }) => `${ref.kind} ${ref.namespace}: ${path} ${from} → ${to}`);
    const image = 'spec.template.spec.containers[name=web].image';
    const rollout = `Deployment default: ${image} (redacted) → (redacted)`;
    for (const part of [{ objects, rollouts }, ...steps]) {
      expect(part.objects.flatMap(changes)).to.have.members([
        'Shop default: spec.greeting hello → hey',
        'Shop default: spec.image shop:1 → shop:2',
        'ConfigMap default: data.greeting hello → hey',
        'ConfigMap kube-system: data.greeting (redacted) → (redacted)',
        rollout,
      ]);
      expect(part.rollouts.flatMap(changes)).to.deep.equal([rollout]);
    }
    expect(steps).to.have.lengthOf(1);
    const shown = manifests.map(({ after: { kind, metadata } }) => [kind, metadata.namespace]);
    expect(shown).to.deep.equal([
      ['Shop', 'default'],
      ['ConfigMap', 'default'],
    ]);
    await client.delete(Shop, key);
  });

  it('answers an unexpected error without its message, and logs the error', async () => {
    const failing = await ask(shop({}), {
      allows: () => {
        throw new Error('a secret');
      },
    });
    const message = 'the plan failed; see the log of the operator';
    expect(failureOf(failing)).to.deep.equal({ status: 500, message });
    expect(lines.map(({ level, message: text }) => `${level} ${text}`)).to.deep.equal([
      'error a plan failed',
    ]);
  });

  it('throws if the client has disconnected', async () => {
    const stop = new AbortController();
    waits = true;
    const answer = ask(shop({}), { signal: stop.signal }).catch((error: unknown) => error);
    await eventually(() => expect(resume).to.have.lengthOf(1));
    stop.abort(new Error('gone'));
    expect(await answer)
      .to.be.an('error')
      .with.property('message', 'gone');
  });

  it("refuses resources of other groups and kinds than the operator's", async () => {
    const kinds = 'operator shops plans no';
    for (const [apiVersion, kind] of [
      ['other.example/v1', 'Shop'],
      [Shop.apiVersion, 'Stall'],
    ]) {
      const other = JSON.stringify({ apiVersion, kind, metadata: { name: 'a' } });
      const message = `${kinds} ${kind} of ${apiVersion}; it plans Shop`;
      expect(failureOf(await ask(other))).to.deep.equal({ status: 404, message });
    }
  });

  it('refuse a user whom the metrics server refuses, and tell which right to grant', async () => {
    for (const [status, remedy] of [
      [401, 'send a token that the API server accepts'],
      [429, 'try again later'],
      [500, 'see the log of the operator'],
    ] as const) {
      const headers = { 'www-authenticate': 'Bearer' };
      const review = { refusal: { status, headers, body: 'no\n' } };
      const refused = await ask(shop({}), { review });
      expect(failureOf(refused)).to.deep.equal({ status, message: `no: ${remedy}` });
      expect(refused.headers).to.include(headers);
    }
  });
});
