import { expect } from 'chai';
import { WriteOverlay } from '../../lib/cache/write-overlay.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

function object(resourceVersion: string, uid = 'u', name = 'a'): KubernetesObject {
  const metadata = { name, namespace: 'ns', uid, resourceVersion };
  return { apiVersion: 'v1', kind: 'O', metadata };
}

function newOverlay() {
  const clock = new VirtualClock();
  const watched = { stored: new Map<string, KubernetesObject>(), progress: '10' };
  const overlay = new WriteOverlay({
    clock,
    stored: (key) => watched.stored.get(key),
    quarantined: () => undefined,
    progress: () => watched.progress,
  });
  const show = (next: KubernetesObject | undefined, progress: string): void => {
    if (next === undefined) watched.stored.delete('ns/a');
    else watched.stored.set('ns/a', next);
    watched.progress = progress;
    overlay.advance();
  };
  const version = (): string | undefined => {
    const look = overlay.look('ns/a');
    return look.type === 'object' ? look.object.metadata.resourceVersion : look.type;
  };
  return { clock, overlay, show, version };
}

describe('WriteOverlay, which shows written objects until the watch does', () => {
  it('shows a write until the watch has passed its version', () => {
    const { overlay, show, version } = newOverlay();
    show(object('5'), '10');
    overlay.written(object('12'));
    expect(version()).to.equal('12');
    show(object('5'), '11');
    expect(version()).to.equal('12');
    show(object('12'), '12');
    expect([version(), overlay.size]).to.deep.equal(['12', 0]);
  });

  it('discards a write when a bookmark passes its version, even if the object no longer exists', () => {
    const { overlay, show, version } = newOverlay();
    overlay.written(object('12'));
    show(undefined, '20');
    expect([version(), overlay.size]).to.deep.equal(['absent', 0]);
  });

  it('keeps the newer of two writes whose responses arrive in reverse order', () => {
    const { overlay, version } = newOverlay();
    overlay.written(object('13'));
    overlay.written(object('12'));
    expect(version()).to.equal('13');
  });

  it('ignores a write whose version the watch has shown before the response arrives', () => {
    const { overlay, show, version } = newOverlay();
    show(object('15'), '15');
    overlay.written(object('12'));
    expect([overlay.size, version()]).to.deep.equal([0, '15']);
  });

  it('hides a deleted object until the watch shows the deletion, but not a new object of the same name', () => {
    const { overlay, show, version } = newOverlay();
    show(object('5', 'old'), '10');
    overlay.deleted('ns/a');
    expect(version()).to.equal('absent');
    show(object('11', 'old'), '11');
    expect(version()).to.equal('absent');
    show(object('14', 'new'), '14');
    expect([version(), overlay.size]).to.deep.equal(['14', 0]);
  });

  it('hides an object that was created and deleted before the watch shows its creation', () => {
    const { overlay, show, version } = newOverlay();
    overlay.written(object('12'));
    overlay.deleted('ns/a');
    show(object('12'), '12');
    expect(version()).to.equal('absent');
    show(undefined, '13');
    expect([version(), overlay.size]).to.deep.equal(['absent', 0]);
  });

  it('does not show a deleted object again when the response of an earlier write arrives late', () => {
    const { overlay, show, version } = newOverlay();
    show(object('5'), '10');
    overlay.deleted('ns/a', 'u');
    overlay.written(object('11'));
    expect(version()).to.equal('absent');
  });

  it('hides nothing when the UID of the deleted object differs from that of the cached object', () => {
    const { overlay, show, version } = newOverlay();
    show(object('5', 'u'), '10');
    overlay.deleted('ns/a', 'another');
    expect(version()).to.equal('5');
  });

  it('reports an object with non-numeric versions as unsettled until the watch shows the written version', () => {
    const { clock, overlay, show, version } = newOverlay();
    show(object('x1'), 'x1');
    overlay.written(object('x2'));
    expect(version()).to.equal('unsettled');
    show(object('x2'), 'x2');
    expect([version(), overlay.size]).to.deep.equal(['x2', 0]);
    overlay.written(object('x3'));
    overlay.settle('ns/a');
    expect(version()).to.equal('unsettled');
    void clock.advance(0);
  });

  it('discards a write after a minute if the watch does not show it', async () => {
    const { clock, overlay, show, version } = newOverlay();
    show(object('x1'), 'x1');
    overlay.written(object('x2'));
    await clock.advance(60_000);
    expect([version(), overlay.size]).to.deep.equal(['x1', 0]);
  });

  it('reports an object as unsettled after a conflict until the object changes, or is read once from the server', () => {
    const { overlay, show, version } = newOverlay();
    show(object('5'), '10');
    overlay.conflicted('ns/a');
    expect(version()).to.equal('unsettled');
    show(object('11'), '11');
    expect(version()).to.equal('11');
    overlay.conflicted('ns/a');
    overlay.settle('ns/a');
    expect(version()).to.equal('11');
  });

  it('reports an object as unsettled after a conflict until it is deleted', () => {
    const { overlay, show, version } = newOverlay();
    show(object('5'), '10');
    overlay.conflicted('ns/a');
    show(undefined, '11');
    expect([version(), overlay.size]).to.deep.equal(['absent', 0]);
    overlay.written(object('12'));
    overlay.conflicted('ns/a');
    expect(version(), 'before our own write is shown').to.equal('unsettled');
    show(object('12'), '12');
    expect(version(), 'as it was at the conflict').to.equal('unsettled');
  });

  it('reports an object as unsettled after a conflict until the watch shows a version after the last write', () => {
    const { overlay, show, version } = newOverlay();
    show(object('5'), '10');
    overlay.written(object('12'));
    overlay.conflicted('ns/a');
    show(object('12'), '12');
    expect(version()).to.equal('unsettled');
    show(object('13'), '13');
    expect(version()).to.equal('13');
  });

  it('reports an object as unsettled after a deleteCollection until it is deleted or is being deleted', () => {
    const { overlay, show, version } = newOverlay();
    show(object('5'), '10');
    overlay.deletedWithOthers('ns/a', 'earlier');
    expect(version()).to.equal('5');
    overlay.deletedWithOthers('ns/a', 'u');
    expect(version()).to.equal('unsettled');
    const { metadata, ...rest } = object('11');
    show({ ...rest, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }, '11');
    expect(version()).to.equal('11');
  });

  it('merges writes into a list, but only those in the namespace of the list', () => {
    const { overlay, show } = newOverlay();
    const b = object('6', 'ub', 'b');
    show(object('5'), '10');
    overlay.written(object('12'));
    overlay.written(object('13', 'uc', 'c'));
    const names = (namespace: string | undefined): unknown =>
      overlay
        .over([object('5'), b], namespace, () => true)
        ?.map(({ metadata }) => `${metadata.name ?? ''}@${metadata.resourceVersion ?? ''}`);
    expect(names('ns')).to.deep.equal(['b@6', 'a@12', 'c@13']);
    overlay.touched('other/z', '99');
    expect(names('ns')).to.deep.equal(['b@6', 'a@12', 'c@13']);
    expect(names(undefined)).to.equal(undefined);
  });
});
