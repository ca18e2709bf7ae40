import { expect } from 'chai';
import { ensureCrd, forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { Operator } from '../../../lib/operator/index.js';
import { VirtualClock, silentLogger } from '../../../lib/system/index.js';
import { isWrite } from '../../builder/suite/target.js';
import type { BuilderTarget } from '../../builder/suite/target.js';
import { definitionOf, widget, widgetsIn } from './migrated-widgets.js';

/** A cluster whose storage the suite reads. */
export interface MigrationTarget extends BuilderTarget {
  /** Returns the numbers of stored widgets of a group, by the version in which they are stored. */
  storedIn(group: string): Promise<Readonly<Record<string, number>>>;
}

const count = 300;

const annotation = 'operator-builder.io/storage-migration';

/**
 * Migrations of some hundred stored objects, on the embedded and the real server.
 * @param newGroup - returns a group that the cluster does not have
 */
export function storageMigrationSuite(
  newTarget: () => Promise<MigrationTarget>,
  newGroup: () => string,
): void {
  let target: MigrationTarget;
  let group: string;

  before(async () => {
    target = await newTarget();
  });

  beforeEach(async () => {
    group = newGroup();
    const { admin, clock } = target;
    await ensureCrd(admin, widgetsIn('v1', group).crd, { clock });
    for (let index = 0; index < count; index++) await admin.create(widget(index, group));
    await ensureCrd(admin, widgetsIn('v2', group).crd, { clock });
  });

  after(() => target.close());

  const storedVersions = async (): Promise<readonly string[] | undefined> =>
    (await definitionOf(target.admin, group)).status?.storedVersions;

  const contents = async () => {
    const { items } = await target.admin.list<ReturnType<typeof widget>>(widgetsIn('v2', group));
    return items.map(({ metadata: { name, uid, generation }, ...rest }) => ({
      ...{ ...rest, name, uid, generation },
    }));
  };

  /** Runs the operator until `isDone`, or until it ends. */
  async function run(client: Client, isDone: () => Promise<boolean>): Promise<void> {
    const Widget = widgetsIn('v2', group);
    const operator = new Operator('widget-operator', { resources: [Widget] });
    operator.migratesStorage(Widget, { writesPerSecond: 1_000 });
    const stop = new AbortController();
    const { clock } = target;
    const quiet = { leaderElection: false, health: false, metrics: false } as const;
    const running = operator.run({
      ...quiet,
      client,
      clock,
      logger: silentLogger,
      signal: stop.signal,
    });
    try {
      await target.eventually(async () => {
        if (clock instanceof VirtualClock) await clock.advance(1_000);
        expect(await isDone()).to.equal(true);
      });
    } finally {
      stop.abort();
      await running;
    }
  }

  const isMigrated = async (): Promise<boolean> => {
    const { status, metadata } = await definitionOf(target.admin, group);
    const isAnnotated = metadata.annotations?.[annotation] !== undefined;
    return status?.storedVersions?.join() === 'v2' && !isAnnotated;
  };

  it(`a storage migration writes each of ${count} objects once in the new version, and removes the old version from storedVersions`, async () => {
    expect(await storedVersions()).to.deep.equal(['v1', 'v2']);
    expect(await target.storedIn(group)).to.deep.equal({ [`${group}/v1`]: count });
    const before = await contents();
    const operator = await target.operator();
    await run(operator.client, isMigrated);
    expect(await target.storedIn(group)).to.deep.equal({ [`${group}/v2`]: count });
    expect(await contents()).to.deep.equal(before);
    const writes = (await operator.requests()).filter(isWrite);
    const names = writes.filter(({ resource }) => resource === 'widgets').map(({ name }) => name);
    expect(names.sort()).to.deep.equal(before.map(({ name }) => name));
    const { metadata, spec } = await definitionOf(target.admin, group);
    // Now the server accepts a definition without the old version, and reads all objects.
    const versions = spec.versions.filter(({ name }) => name === 'v2');
    const body = { spec: { versions } };
    await target.admin.patch(
      definitionType,
      { name: metadata.name ?? '' },
      { type: 'merge', body },
    );
    expect(await contents()).to.deep.equal(before);
  });

  it('a storage migration continues after a crash, and writes each object once', async () => {
    const operators = [await target.operator(), await target.operator()] as const;
    let patches = 0;
    const own = operators[0].client;
    // The process dies after some writes: its further requests do not arrive.
    const dying: Client = {
      ...forwarding(own),
      patch: (type, key, body, options) => {
        const isWidget = (type as { readonly kind: string }).kind === 'Widget';
        if (isWidget && ++patches > count / 3) return Promise.reject(new Error('crashed'));
        return own.patch(type, key, body, options);
      },
    };
    await run(dying, () => Promise.resolve(patches > count / 3));
    expect(await storedVersions()).to.deep.equal(['v1', 'v2']);
    expect(await target.storedIn(group)).to.deep.equal({
      [`${group}/v1`]: (count * 2) / 3,
      [`${group}/v2`]: count / 3,
    });
    await run(operators[1].client, isMigrated);
    expect(await target.storedIn(group)).to.deep.equal({ [`${group}/v2`]: count });
    const served = await Promise.all(operators.map((each) => each.requests()));
    const writes = served.flat().filter((each) => isWrite(each) && each.resource === 'widgets');
    expect(new Set(writes.map(({ name }) => name)).size).to.equal(count);
    expect(writes).to.have.length(count);
  });
}

const definitionType = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
