import { expect } from 'chai';
import { getIfExists } from '../../../../lib/client/index.js';
import { ConfigMap, Deployment, Event, Namespace } from '../../../../lib/object/kinds.js';
import { chainLabel } from '../../../../samples/resource-chain/site.js';
import type { BuilderTarget, NewTarget } from '../../../builder/suite/target.js';
import { SiteStage } from './stage.js';

const ofBoth = ['ConfigMap pages', 'Deployment web', 'Secret credentials', 'Service web'];
const ofV1 = [...ofBoth, 'ConfigMap mailer', 'Deployment mailer'].sort();
const ofV2 = [
  ...ofBoth,
  ...['ConfigMap mail-queue', 'ConfigMap mail-sender', 'Service mail-queue'],
  ...['Deployment mail-queue', 'Deployment mail-sender'],
].sort();

/** Declares how the site operator behaves, on either server. */
export function resourceChainSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let stage: SiteStage;
  before(async () => {
    target = await newTarget();
  });
  after(() => target.close());
  beforeEach(async () => {
    stage = await SiteStage.open(target);
  });
  afterEach(() => stage.stop());

  it('the operator creates a site with one write per object, then sends none', async () => {
    await stage.start();
    await stage.operator.requests();
    await stage.create();
    await stage.settled('v1');
    expect([...(await stage.objects()).keys()].sort()).to.deep.equal(ofV1);
    expect(stage.registry.domains).to.deep.equal([stage.domain]);
    const writes = await stage.writes();
    expect(writes.filter((write) => !isOfSite(write))).to.have.length(ofV1.length + 1);
    expect(await stage.warnings()).to.deep.equal([]);
    await stage.patch({ metadata: { annotations: { touched: 'yes' } } });
    await stage.stop();
    await stage.start();
    await stage.settled('v1');
    expect(await stage.writes()).to.deep.equal([]);
    await stage.remove();
    await stage.gone();
  });

  it('the operator changes a running site from v1 to v2 and back, while objects of both versions keep their UIDs and pods', async () => {
    await stage.start();
    await stage.create();
    await stage.settled('v1');
    const [before, pods] = [await stage.objects(), await stage.pods('web')];
    expect(pods).to.have.length(2);
    await stage.operator.requests();
    await stage.moveTo('v2');
    await stage.settled('v2');
    const after = await stage.objects();
    expect([...after.keys()].sort()).to.deep.equal(ofV2);
    expect(ofBoth.map((name) => after.get(name))).to.deep.equal(
      ofBoth.map((name) => before.get(name)),
    );
    expect(await stage.pods('web')).to.deep.equal(pods);
    const writes = (await stage.writes()).filter((write) => !isOfSite(write));
    // New objects are created before old ones are deleted, without other writes.
    expect(writes).to.deep.equal([
      'patch services/mail-queue',
      ...['patch configmaps/mail-queue', 'patch configmaps/mail-sender'],
      ...['patch deployments/mail-queue', 'patch deployments/mail-sender'],
      ...['delete deployments/mailer', 'delete configmaps/mailer'],
    ]);
    await stage.moveTo('v1');
    await stage.settled('v1');
    expect([...(await stage.objects()).keys()].sort()).to.deep.equal(ofV1);
    expect(await stage.pods('web')).to.deep.equal(pods);
    await stage.remove();
    await stage.gone();
  });

  it('the operator keeps the finalizer of a deleted site until the registry has released its domain', async () => {
    await stage.start();
    await stage.create();
    await stage.settled('v1');
    await stage.remove();
    await stage.eventually(async () => {
      const leaving = await stage.registry.find(stage.domain);
      expect(leaving?.state).to.equal('leaving');
    });
    const held = await stage.site();
    expect(held?.metadata.deletionTimestamp).not.to.equal(undefined);
    expect(held?.metadata.finalizers).to.deep.equal(['operator-builder.io/site-operator']);
    const namespace = await getIfExists(target.admin, Namespace, { name: stage.name });
    // The other objects are deleted meanwhile.
    expect(namespace === undefined || namespace.metadata.deletionTimestamp !== undefined).to.equal(
      true,
    );
    await stage.gone();
    expect(stage.registry.domains).to.deep.equal([]);
    const { items } = await target.admin.list(Event, {});
    const told = items.filter(({ regarding, reason }) => {
      return regarding?.name === stage.name && reason === 'FinalizerKept';
    });
    const kept = told.filter(({ note = '' }) => note.includes('is kept by domain (the registry'));
    // The note of a first Event may also name the namespace, until that is gone.
    expect(kept.length).to.be.within(1, 2);
  });

  it('the operator ignores a site until it has the label that selects a resource set', async () => {
    await stage.start();
    await stage.create({});
    await stage.patch({ metadata: { annotations: { touched: 'yes' } } });
    await stage.patch({ metadata: { labels: { [chainLabel]: 'v2' } } });
    await stage.settled('v2');
    expect([...(await stage.objects()).keys()].sort()).to.deep.equal(ofV2);
    await stage.remove();
    await stage.gone();
  });

  it("the operator reverts changes and deletions of a site's objects", async () => {
    await stage.start();
    await stage.create();
    await stage.settled('v1');
    const key = { namespace: stage.name, name: 'pages' };
    const body = { data: { TITLE: 'edited' } };
    await target.admin.patch(ConfigMap, key, { type: 'merge', body });
    await target.admin.delete(Deployment, { namespace: stage.name, name: 'mailer' });
    await stage.eventually(async () => {
      const { data } = await target.admin.get(ConfigMap, key);
      expect(data).to.deep.equal({ TITLE: `Welcome to ${stage.domain}` });
      expect([...(await stage.objects()).keys()].sort()).to.deep.equal(ofV1);
    });
    await stage.remove();
    await stage.gone();
  });

  it('the operator waits for a domain that another site is releasing', async () => {
    await stage.registry.register(stage.domain, 'another');
    await stage.registry.release(stage.domain);
    await stage.start();
    await stage.create();
    await stage.settled('v1');
    expect((await stage.registry.find(stage.domain))?.site).to.equal(stage.name);
    expect(await stage.warnings()).to.deep.equal([]);
    await stage.remove();
    await stage.gone();
  });

  it('the operator reports a domain that belongs to another site, and creates no objects', async () => {
    await stage.registry.register(stage.domain, 'another');
    await stage.start();
    await stage.create();
    await stage.eventually(async () => {
      const warnings = await stage.warnings();
      expect(warnings.join('\n')).to.include('is registered for another');
    });
    expect([...(await stage.objects()).keys()]).to.deep.equal([]);
    await stage.remove();
    await stage.gone();
    expect(stage.registry.domains).to.deep.equal([stage.domain]);
  });
}

/** Returns true for a write of the site itself: of its finalizer or status. */
function isOfSite(write: string): boolean {
  return write.includes(' sites');
}
