import { expect } from 'chai';
import type { Client } from '../../lib/client/index.js';
import { Backoff, controllerFor, done, timerSource } from '../../lib/controller/index.js';
import {
  LeaderElector,
  Manager,
  allowed,
  certificateFiles,
  generatedCertificates,
  validatingWebhook,
} from '../../lib/manager/index.js';
import { ConfigMap } from '../../lib/object/index.js';

const client = {} as Client;
const lease = { name: 'shop', namespace: 'default' };
const certificates = { start: () => new Promise<never>(() => undefined) };
const webhooks = [validatingWebhook(ConfigMap, () => allowed())];
const secret = { name: 'certificates', namespace: 'default' };

type Options = Readonly<Record<string, unknown>>;

/** Plain JavaScript, or a cast, can give any value. */
const manager = (options: Options): unknown => new Manager({ client, ...options });
const controller = (options: Options): unknown =>
  controllerFor(ConfigMap)
    .withOptions(options)
    .complete(async () => done());

/** Functions that accept numbers, by the names of their options. */
const takers: readonly (readonly [string, readonly string[], (options: Options) => unknown])[] = [
  ['manager', ['gracefulShutdownMs', 'startTimeoutMs', 'cacheSyncTimeoutMs'], manager],
  [
    'health',
    ['port', 'checkTimeoutMs', 'stallMs', 'stuckReconcileFactor'],
    (health) => manager({ health }),
  ],
  ['metrics', ['port'], (metrics) => manager({ metrics })],
  ['inspector', ['port', 'maxLivePages', 'updateMs'], (inspector) => manager({ inspector })],
  ['webhooks', ['port'], (given) => manager({ webhooks: { webhooks, certificates, ...given } })],
  [
    'leader election',
    ['leaseDurationMs', 'renewDeadlineMs', 'retryPeriodMs'],
    (times) => new LeaderElector({ client, ...lease, ...times }),
  ],
  [
    'sharding',
    ['leaseDurationMs', 'renewDeadlineMs', 'retryPeriodMs', 'drainMs'],
    (times) => {
      const sharded = new Manager({ client, shards: { ...lease, ...times } });
      sharded.add(
        controllerFor(ConfigMap).complete(async () => done()),
        { shards: true },
      );
    },
  ],
  ['controller configmap', ['maxConcurrentReconciles', 'reconcileTimeoutMs'], controller],
  ['backoff', ['baseDelayMs', 'maxDelayMs'], (options) => new Backoff(options)],
  [
    'timerSource timer',
    ['everyMs'],
    (options) => timerSource({ everyMs: 1, ...options, requests: () => [] }),
  ],
  ['certificateFiles', ['intervalMs'], (options) => certificateFiles({ folder: '/', ...options })],
  [
    'generatedCertificates',
    ['validityMs', 'rotateBeforeMs', 'authorityValidityMs', 'intervalMs', 'settleMs'],
    (options) => generatedCertificates({ client, secret, dnsNames: ['a'], ...options }),
  ],
];

describe('options whose values are numbers', () => {
  for (const [subject, names, give] of takers) {
    for (const name of names) {
      it(`refuse strings and null in an error that names option and value: ${subject} ${name}`, () => {
        const refused = `${subject}: ${name}: want a number, got`;
        expect(() => give({ [name]: '5000' }))
          .to.throw(`${refused} "5000"`)
          .with.property('code', 'InvalidOption');
        expect(() => give({ [name]: null })).to.throw(`${refused} null`);
      });
    }
  }

  for (const [subject, names, give] of takers) {
    if (!names.includes('port')) continue;
    it(`refuse numbers that cannot be ports: ${subject}`, () => {
      for (const port of [-1, NaN, 1.5, 65_536, Infinity]) {
        expect(() => give({ port }))
          .to.throw(`${subject}: port ${port}: want 0 to 65535`)
          .with.property('code', 'InvalidOption');
      }
      for (const port of [0, 65_535]) give({ port });
    });
  }
});
