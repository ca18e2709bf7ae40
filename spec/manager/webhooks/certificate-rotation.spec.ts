import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import type { Client } from '../../../lib/client/index.js';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import {
  allowed,
  generatedCertificates,
  validatingWebhook,
  webhookConfigurations,
} from '../../../lib/manager/webhooks/index.js';
import type {
  GeneratedCertificatesOptions,
  ServingCertificate,
} from '../../../lib/manager/webhooks/index.js';
import { splitBundle } from '../../../lib/system/x509.js';
import { ConfigMap, Secret } from '../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { silentLogger } from '../../../lib/system/logger.js';
import type { Logger } from '../../../lib/system/logger.js';
import { OperatorError } from '../../../lib/system/operator-error.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const key = { namespace: 'default', name: 'hooks' };
const configuration = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  name: 'trusting',
};
/** Validities that make replicas trust another CA when the first one, which is valid for 8 hours, is 5 hours old. */
const short = {
  ...{ validityMs: 3 * hourMs, authorityValidityMs: 8 * hourMs },
  ...{ settleMs: 10 * minuteMs, intervalMs: 5 * minuteMs },
};

interface Settings extends Partial<GeneratedCertificatesOptions> {
  readonly clock?: VirtualClock;
}

describe('The rotation of generated certificates', () => {
  let cluster: EmbeddedCluster;
  let client: Client;
  let clock: VirtualClock;
  let ending: AbortController;
  let warnings: string[];

  beforeEach(async () => {
    clock = new VirtualClock();
    cluster = await EmbeddedCluster.start({ clock });
    client = cluster.client();
    ending = new AbortController();
    warnings = [];
    const webhook = validatingWebhook(ConfigMap, () => allowed());
    const address = { service: key };
    for (const object of webhookConfigurations([webhook], { name: configuration.name, address })) {
      await client.create<never>(object as never);
    }
  });
  afterEach(async () => {
    ending.abort();
    await cluster.stop();
    expect(clock.pendingTimers).to.equal(0);
  });

  const start = async ({ clock: own = clock, ...options }: Settings = {}) => {
    const source = generatedCertificates({
      ...{ client, secret: key, dnsNames: ['hooks.default.svc'] },
      ...{ trustedBy: { validating: [configuration.name] }, ...options },
    });
    const logger: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) };
    const replica: { shown?: ServingCertificate } = {};
    const onChange = (next: ServingCertificate): void => void (replica.shown = next);
    onChange(await source.start({ clock: own, logger, signal: ending.signal, onChange }));
    return replica;
  };
  const authorities = async (): Promise<readonly string[]> => {
    const { webhooks } = await client.get<UnstructuredObject>(configuration, configuration);
    const [webhook] = webhooks as { clientConfig: { caBundle?: string } }[];
    return splitBundle(Buffer.from(webhook?.clientConfig.caBundle ?? '', 'base64').toString());
  };
  const isTrusted = async ({ shown }: { readonly shown?: ServingCertificate }) => {
    const certificate = new X509Certificate(shown?.certificate ?? '');
    const isLive = Date.parse(certificate.validTo) > clock.now();
    const trusted = await authorities();
    return isLive && trusted.some((pem) => certificate.checkIssued(new X509Certificate(pem)));
  };
  /** Advances time in steps of five minutes, each until the trust has been checked. */
  const pass = async (ms: number, stepMs = short.intervalMs): Promise<void> => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      const mark = cluster.requests.mark();
      await clock.advance(stepMs);
      const seen = () => cluster.requests.since(mark).entries.map(({ name }) => name);
      await until(() => seen().includes(configuration.name));
      await turns();
    }
  };
  /** Returns a client whose requests fail while `fails` returns true. */
  const failing = (fails: (verb: 'get' | 'patch') => boolean): Client => {
    const refused = (): Promise<never> =>
      Promise.reject(new OperatorError('ConnectionFailed', 'GET /secrets: refused'));
    return {
      ...forwarding(client),
      get: (type, name, options) => (fails('get') ? refused() : client.get(type, name, options)),
      patch: (type, name, patch, options) =>
        fails('patch') ? refused() : client.patch(type, name, patch, options),
    };
  };

  it('presents only certificates that clients trust while a caBundle cannot be written', async () => {
    let isForbidden = false;
    const replica = await start({ ...short, client: failing((v) => v === 'patch' && isForbidden) });
    await pass(5 * hourMs - 5 * minuteMs);
    isForbidden = true;
    for (let minutes = 0; minutes < 90; minutes += 15) {
      await pass(15 * minuteMs);
      expect(await isTrusted(replica), `after ${minutes} minutes`).to.equal(true);
    }
    const { data } = await client.get(Secret, key);
    const known = Buffer.from(data?.['ca.crt'] ?? '', 'base64').toString();
    expect(splitBundle(known)).to.have.lengthOf(2);
    const [before, signed] = [await authorities(), replica.shown];
    expect(before).to.have.lengthOf(1);
    isForbidden = false;
    await pass(5 * minuteMs);
    // The new CA is trusted from now on, but not yet for long enough to use it.
    expect(replica.shown).to.equal(signed);
    await pass(15 * minuteMs);
    await until(() => replica.shown !== signed);
    expect(await isTrusted(replica)).to.equal(true);
    const next = new X509Certificate(replica.shown?.certificate ?? '');
    expect(next.checkIssued(new X509Certificate(before[0] ?? ''))).to.equal(false);
  });

  it('does not sign with a new authority too early if the clock of a replica is ahead', async () => {
    const replica = await start(short);
    await pass(5 * hourMs + 5 * minuteMs);
    expect(await authorities()).to.have.lengthOf(2);
    const ahead = new VirtualClock(clock.now() + 15 * minuteMs);
    const other = await start({ ...short, clock: ahead });
    expect(other.shown?.certificate).to.equal(replica.shown?.certificate);
  });

  it('creates certificates that clients accept although their clocks are 4 minutes behind', async () => {
    const { shown } = await start();
    const theirs = clock.now() - 4 * minuteMs;
    for (const pem of [shown?.certificate ?? '', ...(await authorities())]) {
      expect(Date.parse(new X509Certificate(pem).validFrom)).to.be.at.most(theirs);
    }
  });

  it('retries with back-off while the API server is unreachable', async () => {
    let attempts = 0;
    const isUp = (): boolean => attempts > 7;
    const starting = start({
      client: failing((verb) => {
        if (verb === 'get') attempts++;
        return !isUp();
      }),
    });
    const delays: number[] = [];
    while (!isUp()) {
      await until(() => warnings.length > delays.length || isUp());
      if (isUp()) break;
      delays.push(Number(/tried again in (\d+) ms/.exec(warnings.at(-1) ?? '')?.[1]));
      await until(() => clock.pendingTimers === 1);
      await clock.advance(delays.at(-1) ?? 0);
    }
    expect(delays).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(warnings[0]).to.contain('Secret default/hooks: GET /secrets: refused');
    expect(await isTrusted(await starting)).to.equal(true);
  });

  it('stops while it waits for the API server', async () => {
    const starting = start({ client: failing(() => true) }).catch((error: unknown) => error);
    await until(() => clock.pendingTimers === 1);
    ending.abort(new OperatorError('Stopped', 'the spec ends'));
    expect(await starting).to.equal(ending.signal.reason);
  });

  const stored = (data: Record<string, string>): Promise<Secret> =>
    client.create<Secret>({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: key, type: 'kubernetes.io/tls' },
      data: Object.fromEntries(
        Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
      ),
    });

  it('refuses a Secret with a certificate that it did not create, and leaves the Secret unchanged', async () => {
    const foreign = await stored({ 'tls.crt': 'theirs', 'tls.key': 'their key' });
    const error = await start().catch((thrown: unknown) => thrown);
    expect(error).to.be.an('error').with.property('code', 'NotOurs');
    expect((error as Error).message).to.match(/Secret default\/hooks.*certificateFiles/);
    expect(await client.get(Secret, key)).to.deep.equal(foreign);
  });

  it('fills an empty Secret, and repairs a Secret that it has written', async () => {
    await stored({ 'tls.crt': '', 'tls.key': '' });
    expect(await isTrusted(await start())).to.equal(true);
    const body = { data: { 'ca.key': null } };
    await client.patch(Secret, key, { type: 'merge', body });
    expect(await isTrusted(await start())).to.equal(true);
  });

  it('repairs a damaged Secret while clients trust the certificates of all replicas', async () => {
    const replicas = [await start(short), await start(short), await start(short)];
    const mark = cluster.requests.mark();
    const body = { data: { 'ca.key': null } };
    await client.patch(Secret, key, { type: 'merge', body });
    const [{ shown: before }] = replicas as [{ shown?: ServingCertificate }];
    for (let passed = 0; passed < 30 * minuteMs; passed += short.intervalMs) {
      await pass(short.intervalMs);
      for (const replica of replicas) expect(await isTrusted(replica)).to.equal(true);
    }
    expect(new Set(replicas.map(({ shown }) => shown?.certificate)).size).to.equal(1);
    expect(replicas[0]?.shown?.certificate).to.not.equal(before?.certificate);
    // One of the three replicas writes, and the others get conflicts.
    const { entries } = cluster.requests.since(mark);
    const written = entries.filter(({ verb, code }) => verb === 'update' && code === 200);
    expect(written).to.have.lengthOf(2);
  });

  const nothing = { 'tls.crt': '', 'tls.key': '', 'ca.crt': null, 'ca.key': null };
  const losses: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['deleted', () => client.delete(Secret, key)],
    ['emptied', () => client.patch(Secret, key, { type: 'merge', body: { data: nothing } })],
  ];
  for (const [how, lose] of losses) {
    it(`replaces the certificates of a Secret that was ${how} while clients trust those of all replicas`, async () => {
      const first = await start(short);
      // Each replica checks while the other one presents the certificate of its last check.
      const stepMs = short.intervalMs / 2;
      await clock.advance(stepMs);
      const second = await start(short);
      const before = first.shown?.certificate;
      await lose();
      for (let passed = 0; passed < 30 * minuteMs; passed += stepMs) {
        await pass(stepMs, stepMs);
        const areTrusted = [await isTrusted(first), await isTrusted(second)];
        expect(areTrusted, `${passed} ms later`).to.deep.equal([true, true]);
      }
      expect(first.shown?.certificate).to.equal(second.shown?.certificate);
      expect(first.shown?.certificate).to.not.equal(before);
    });
  }

  it('limits the number of authorities in a Secret that is damaged repeatedly', async () => {
    const replica = await start(short);
    for (let n = 0; n < 8; n++) {
      await client.patch(Secret, key, { type: 'merge', body: { data: { 'ca.key': null } } });
      await pass(short.intervalMs);
      expect(await isTrusted(replica)).to.equal(true);
    }
    expect(await authorities()).to.have.length.within(2, 5);
  });

  it('warns if two operators use the same Secret for different DNS names', async () => {
    const mark = cluster.requests.mark();
    await start({ ...short, dnsNames: ['a.default.svc'] });
    await start({ ...short, dnsNames: ['b.default.svc'], intervalMs: 24 * hourMs });
    expect(warnings).to.deep.equal([]);
    await pass(5 * minuteMs);
    expect(warnings).to.have.lengthOf(1);
    expect(warnings[0]).to.match(/^Secret default\/hooks: another operator/);
    const { entries } = cluster.requests.since(mark);
    expect(entries.filter(({ verb }) => verb === 'update')).to.have.lengthOf(2);
  });

  it('stops an attempt after ten writes if the Secret keeps changing', async () => {
    await start();
    let writes = 0;
    const restless: Client = {
      ...forwarding(client),
      update: async (object, options) => {
        writes++;
        const written = await client.update(object, options);
        const other = { data: { 'tls.crt': Buffer.from('x').toString('base64') } };
        await client.patch(Secret, key, { type: 'merge', body: other });
        return written;
      },
    };
    const body = { data: { 'tls.crt': '' } };
    await client.patch(Secret, key, { type: 'merge', body });
    const starting = start({ client: restless }).catch((error: unknown) => error);
    await until(() => warnings.length === 1);
    expect(warnings[0]).to.contain('is changed all the time');
    expect(writes).to.equal(10);
    ending.abort();
    await starting;
  });
});

/** Waits until `isSo` returns true. Other threads create the keys. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}
