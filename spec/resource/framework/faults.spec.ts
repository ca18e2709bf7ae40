import { expect } from 'chai';
import { ensureCrd, faulty, forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import type { Manager } from '../../../lib/manager/manager.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { ConfigMap, Event, Secret } from '../../../lib/object/kinds.js';
import { faultOn, faults } from '../../../lib/testing/index.js';
import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import type { BuilderTarget, Operator } from '../../builder/suite/target.js';
import { drivenController } from '../../manager/suite/driven-controller.js';
import type { DrivenController } from '../../manager/suite/driven-controller.js';
import { newFramework, owners } from './suite/driving.js';

const invalid = { type: 'error', status: 422, reason: 'Invalid' } as const;
const type = owners.Namespaced;

/** Lasting faults, and the text of the event that reports each; undefined: no event is due. */
const whileCreated = [
  ['apply ConfigMap: 500', { verb: 'apply', kind: 'ConfigMap' }, faults.serverError(), 'web'],
  ['apply ConfigMap: 403', { verb: 'apply', kind: 'ConfigMap' }, faults.forbidden(), 'web'],
  ['apply ConfigMap: 422', { verb: 'apply', kind: 'ConfigMap' }, invalid, 'web'],
  ['apply ConfigMap: 404', { verb: 'apply', kind: 'ConfigMap' }, faults.notFound(), 'web'],
  ['apply ConfigMap: time-out', { verb: 'apply', kind: 'ConfigMap' }, faults.timeout(), 'web'],
  ['apply ConfigMap: 429', { verb: 'apply', kind: 'ConfigMap' }, faults.tooManyRequests(), 'web'],
  ['apply ConfigMap: 409', { verb: 'apply', kind: 'ConfigMap' }, faults.conflict(), undefined],
  ['patch of the owner: 403', { verb: 'patch', kind: 'Estate' }, faults.forbidden(), 'Estate'],
  ['patch of the owner: 500', { verb: 'patch', kind: 'Estate' }, faults.serverError(), 'Estate'],
] as const;

const whileDeleted = [
  ['delete ConfigMap: 500', { verb: 'delete', kind: 'ConfigMap' }, faults.serverError(), 'web'],
  ['delete ConfigMap: 403', { verb: 'delete', kind: 'ConfigMap' }, faults.forbidden(), 'web'],
  ['delete ConfigMap: time-out', { verb: 'delete', kind: 'ConfigMap' }, faults.timeout(), 'web'],
  ['delete ConfigMap: reset', { verb: 'delete', kind: 'ConfigMap' }, faults.reset(), 'web'],
  ['delete ConfigMap: 409', { verb: 'delete', kind: 'ConfigMap' }, faults.conflict(), 'web'],
  ['delete Secret: 500', { verb: 'delete', kind: 'Secret' }, faults.serverError(), 'database'],
  ['patch of the owner: 403', { verb: 'patch', kind: 'Estate' }, faults.forbidden(), 'Estate'],
  ['patch of the owner: 500', { verb: 'patch', kind: 'Estate' }, faults.serverError(), 'Estate'],
] as const;

describe('a framework whose requests fail', () => {
  let target: BuilderTarget;
  let namespace: string;
  let driven: DrivenController;
  let broken: Client | undefined;
  before(async () => {
    target = await embeddedTarget();
    await ensureCrd(target.admin, type.crd, { clock: target.clock });
  });
  after(() => target.close());

  beforeEach(async () => {
    namespace = await target.namespace();
    broken = undefined;
    const operator = await target.operator();
    const client = switched(operator.client, () => broken);
    const setup = (manager: Manager, given: Operator): void =>
      void newFramework(type, given, { target, namespace }).addTo(manager);
    driven = await drivenController({ target, setup, operator: { ...operator, client } });
  });
  afterEach(() => driven.stop());

  const key = () => ({ namespace, name: `of-${namespace}` });
  const create = () => target.admin.create({ ...owner, metadata: key() });
  const isThere = async (found: Promise<unknown>): Promise<boolean> =>
    found.then(
      () => true,
      (error: unknown) => !isNotFound(error),
    );
  const map = () => isThere(target.admin.get(ConfigMap, { namespace, name: 'web' }));
  const database = () => isThere(target.admin.get(Secret, { namespace, name: 'database' }));
  const warnings = async (): Promise<readonly string[]> => {
    const { items } = await target.admin.list(Event, { namespace });
    const reported = items.filter(({ type: level, reason }) => {
      return level === 'Warning' || reason === 'FinalizerKept';
    });
    return reported.map(({ note = '' }) => note);
  };
  /** Keeps the fault for a minute. */
  const endure = async (
    on: Parameters<typeof faultOn>[0],
    fault: Parameters<typeof faultOn>[1],
  ): Promise<void> => {
    const { client } = await target.operator();
    const { clock } = target;
    broken = faulty(client, { rules: [faultOn(on, fault)], clock });
    for (let second = 0; second < 60; second++) await driven.pass(1_000);
  };
  const recovers = async (check: () => Promise<boolean>): Promise<void> => {
    broken = undefined;
    for (let round = 0; !(await check()); round++) {
      expect(round, 'seconds without recovery').to.be.lessThan(6 * 60);
      await driven.pass(1_000);
    }
  };

  for (const [name, on, fault, word] of whileCreated) {
    it(`reports ${name}, and creates everything when the fault ends`, async () => {
      await Promise.all([create(), endure(on, fault)]);
      expect(await map()).to.equal(false);
      expect(await warnings()).to.satisfy(reports(word));
      await recovers(map);
      expect(await database()).to.equal(true);
    });
  }

  for (const [name, on, fault, word] of whileDeleted) {
    it(`reports ${name} in a deletion, keeps the order, and completes the deletion when the fault ends`, async () => {
      await create();
      await driven.eventually(map);
      await target.admin.delete(type, key());
      await endure(on, fault);
      expect(await isThere(target.admin.get(type, key()))).to.equal(true);
      if (on.kind === 'ConfigMap') expect(await database()).to.equal(true);
      expect(await warnings()).to.satisfy(reports(word));
      await recovers(async () => !(await isThere(target.admin.get(type, key()))));
      expect(await database()).to.equal(false);
    });
  }
});

const owner = { apiVersion: `${type.group}/v1`, kind: type.kind };

function reports(word: string | undefined): (notes: readonly string[]) => boolean {
  return (notes) =>
    word === undefined ? notes.length === 0 : notes.some((note) => note.includes(word));
}

/** Returns a client that delegates to a replaceable one. */
function switched(client: Client, other: () => Client | undefined): Client {
  const now = (): Client => other() ?? client;
  return {
    ...forwarding(client),
    create: (object, options) => now().create(object, options),
    update: (object, options) => now().update(object, options),
    patch: (...call) => now().patch(...call),
    apply: (object, options) => now().apply(object, options),
    delete: (...call) => now().delete(...call),
  };
}
