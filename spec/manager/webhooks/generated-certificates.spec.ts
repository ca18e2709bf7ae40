import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import type { Client } from '../../../lib/client/index.js';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import {
  generatedCertificates,
  validatingWebhook,
  allowed,
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
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

const dayMs = 24 * 60 * 60_000;
const key = { namespace: 'default', name: 'hooks' };
const configuration = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  name: 'trusting',
};

/** The certificates of a replica, with those that it has presented. */
interface Replica {
  readonly shown: readonly ServingCertificate[];
  stop(): void;
}

describe('generatedCertificates', () => {
  let cluster: EmbeddedCluster;
  let client: Client;
  let clock: VirtualClock;
  let replicas: Replica[];

  beforeEach(async () => {
    clock = new VirtualClock();
    cluster = await EmbeddedCluster.start({ clock });
    client = cluster.client();
    replicas = [];
    const webhook = validatingWebhook(ConfigMap, () => allowed());
    const address = { service: { namespace: 'default', name: 'hooks' } };
    for (const object of webhookConfigurations([webhook, { ...webhook, name: 'b.c.d' }], {
      ...{ name: configuration.name, address },
    })) {
      await client.create<never>(object as never);
    }
  });
  afterEach(async () => {
    for (const replica of replicas) replica.stop();
    await cluster.stop();
    expect(clock.pendingTimers).to.equal(0);
  });

  const start = async (
    options: Partial<GeneratedCertificatesOptions> = {},
  ): Promise<Replica & { readonly first: ServingCertificate }> => {
    const ending = new AbortController();
    const shown: ServingCertificate[] = [];
    const source = generatedCertificates({
      ...{ client, secret: key, dnsNames: ['hooks.default.svc'] },
      ...{ trustedBy: { validating: [configuration.name] }, ...options },
    });
    const context = { clock, logger: silentLogger, signal: ending.signal };
    const first = await source.start({ ...context, onChange: (next) => shown.push(next) });
    shown.push(first);
    const replica = { shown, first, stop: () => ending.abort() };
    replicas.push(replica);
    return replica;
  };
  const trusted = async (): Promise<readonly string[]> => {
    const { webhooks } = await client.get<UnstructuredObject>(configuration, {
      name: configuration.name,
    });
    const configs = (webhooks as { clientConfig: { caBundle?: string } }[]).map(
      ({ clientConfig }) => clientConfig.caBundle ?? '',
    );
    expect(new Set(configs).size).to.equal(1);
    return splitBundle(Buffer.from(configs[0] ?? '', 'base64').toString());
  };
  const isTrusted = async ({ certificate }: ServingCertificate): Promise<boolean> => {
    const bundle = await trusted();
    const shown = new X509Certificate(certificate);
    return bundle.some((pem) => shown.verify(new X509Certificate(pem).publicKey));
  };
  /** Advances time in steps of a replica's interval, each until it has checked the trust. */
  const pass = async (ms: number, stepMs: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      const mark = cluster.requests.mark();
      await clock.advance(stepMs);
      await until(() =>
        cluster.requests.since(mark).entries.some(({ name }) => name === configuration.name),
      );
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  };

  it('creates a certificate for all names, stores it in a TLS Secret, and makes it trusted', async () => {
    const { first } = await start({ dnsNames: ['hooks.default.svc', 'localhost', '127.0.0.1'] });
    const shown = new X509Certificate(first.certificate);
    expect(shown.subjectAltName).to.equal(
      'DNS:hooks.default.svc, DNS:localhost, IP Address:127.0.0.1',
    );
    expect(Date.parse(shown.validTo) - clock.now()).to.equal(90 * dayMs);
    const secret = await client.get(Secret, key);
    expect(secret.type).to.equal('kubernetes.io/tls');
    expect(Object.keys(secret.data ?? {})).to.have.members([
      'ca.crt',
      'ca.key',
      'tls.crt',
      'tls.key',
    ]);
    expect(await isTrusted(first)).to.equal(true);
  });

  it('presents the same certificate on every replica, whichever replica created it', async () => {
    const all = await Promise.all([start(), start(), start()]);
    expect(new Set(all.map(({ first }) => first.certificate)).size).to.equal(1);
  });

  it('writes nothing while nothing has to change', async () => {
    await start();
    const mark = cluster.requests.mark();
    await pass(5 * 60_000, 60_000);
    const { entries } = cluster.requests.since(mark);
    expect(entries.filter(({ verb }) => verb !== 'get')).to.deep.equal([]);
    expect(entries).to.have.lengthOf(10);
  });

  it('replaces a certificate after two thirds of its validity, signed by the same authority', async () => {
    const replica = await start({ intervalMs: dayMs });
    const before = await trusted();
    await pass(61 * dayMs, dayMs);
    await until(() => replica.shown.length === 2);
    expect(await trusted()).to.deep.equal(before);
    expect(await isTrusted(replica.shown[1] ?? replica.first)).to.equal(true);
  });

  it('presents a certificate that clients trust also while the authority is replaced', async () => {
    const hourMs = 60 * 60_000;
    const short = { validityMs: 3 * hourMs, authorityValidityMs: 8 * hourMs, settleMs: 600_000 };
    const replica = await start({ ...short, intervalMs: 300_000 });
    const authorities = new Set<string>();
    for (let minutes = 0; minutes < 24 * 60; minutes += 5) {
      await pass(300_000, 300_000);
      for (const pem of await trusted()) authorities.add(pem);
      const latest = replica.shown.at(-1) ?? replica.first;
      expect(await isTrusted(latest), `after ${minutes} minutes`).to.equal(true);
      expect(Date.parse(new X509Certificate(latest.certificate).validTo)).to.be.above(clock.now());
    }
    expect(authorities.size).to.be.above(2);
    expect((await trusted()).length).to.be.at.most(2);
  });

  it('restores a removed caBundle', async () => {
    await start();
    const path = '/webhooks/0/clientConfig/caBundle';
    const operations = [{ op: 'remove', path }] as const;
    await client.patch(configuration, { name: configuration.name }, { type: 'json', operations });
    await pass(60_000, 60_000);
    expect(await trusted()).to.have.lengthOf(1);
  });

  it('starts although one of the webhook configurations that must trust its certificate does not exist', async () => {
    const trustedBy = { validating: [configuration.name, 'later'] };
    const { first } = await start({ trustedBy });
    expect(await isTrusted(first)).to.equal(true);
  });

  it('creates a new authority if ca.crt and ca.key are removed from the Secret', async () => {
    const replica = await start();
    const body = { data: { 'ca.key': null, 'ca.crt': null } };
    await client.patch(Secret, key, { type: 'merge', body });
    await pass(60_000, 60_000);
    expect(await isTrusted(replica.first)).to.equal(true);
    await pass(5 * 60_000, 60_000);
    await until(() => replica.shown.length === 2);
    expect(await isTrusted(replica.shown[1] ?? replica.first)).to.equal(true);
  });

  it('continues after an outage of the API server', async () => {
    let isDown = false;
    const sometimes: Client = {
      ...forwarding(client),
      get: (type, name, options) =>
        isDown ? Promise.reject(new Error('down')) : client.get(type, name, options),
    };
    const replica = await start({ client: sometimes, intervalMs: dayMs });
    isDown = true;
    await clock.advance(65 * dayMs);
    expect(replica.shown).to.have.lengthOf(1);
    isDown = false;
    await pass(dayMs, dayMs);
    await until(() => replica.shown.length === 2);
  });

  it('accepts an authority whose validity is exactly that of two certificates plus settleMs', async () => {
    const { shown } = await start({
      ...{ validityMs: dayMs, settleMs: dayMs, authorityValidityMs: 3 * dayMs },
    });
    expect(shown).to.have.lengthOf(1);
  });

  const wrong: readonly Partial<GeneratedCertificatesOptions>[] = [
    { dnsNames: [] },
    { rotateBeforeMs: 91 * dayMs },
    { authorityValidityMs: dayMs },
    { intervalMs: 0 },
    { validityMs: NaN },
  ];
  for (const options of wrong) {
    it(`rejects ${JSON.stringify(options)}`, async () => {
      const failed = await start(options).catch((error: unknown) => error);
      expect(failed).to.be.an('error').with.property('code', 'InvalidOption');
    });
  }
});

/** Waits until `isSo` returns true. Other threads create the keys. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
