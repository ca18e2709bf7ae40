import { expect } from 'chai';
import { nextTurn } from '../../../lib/system/clock.js';
import {
  TargetWrites,
  ViewWriters,
  anyKindOf,
  targetText,
} from '../../../lib/declarative/views/view-writers.js';
import type { ViewWriter } from '../../../lib/declarative/views/view-writers.js';

type Changeable = { -readonly [Member in keyof ViewWriter]: ViewWriter[Member] };

const group = 'op.view.dcontroller.io';

/** A controller that has not written yet; kinds without a group are views of `op`. */
function writer(sources: readonly string[], target: string, more: Partial<ViewWriter> = {}) {
  const named = (kind: string): string => (kind.includes('/') ? kind : `${group}/${kind}`);
  const own = { operator: 'op', name: target, sources: sources.map(named), target: named(target) };
  const begins = { readsSecrets: false, progress: 'beginning', trouble: undefined } as const;
  const made: Changeable = { ...own, ...begins, ...more };
  return made;
}

async function isWaiting(wait: Promise<void>): Promise<boolean> {
  const over = { is: false };
  void wait.then(() => (over.is = true));
  await nextTurn();
  return !over.is;
}

describe('ViewWriters, which delays controllers until the views that they read are written', () => {
  const { signal } = new AbortController();

  it('delays a controller until each controller that writes its sources has written or has been removed', async () => {
    const writers = new ViewWriters();
    const [one, other, reader] = [writer([], 'V'), writer([], 'W'), writer(['V', 'W'], 'X')];
    writers.add(one);
    const leave = writers.add(other);
    writers.add(reader);
    const wait = writers.whenWritten(reader, signal);
    expect(await isWaiting(wait)).to.equal(true);
    one.progress = 'tried';
    writers.notify();
    expect(await isWaiting(wait)).to.equal(true);
    leave();
    expect(await isWaiting(wait)).to.equal(false);
  });

  it('calls a listener for each change of a controller that writes views, until the listener is removed', () => {
    const writers = new ViewWriters();
    let calls = 0;
    const leave = writers.listen(() => calls++);
    const remove = writers.add(writer([], 'V'));
    writers.notify();
    remove();
    const before = calls;
    expect(before).to.be.at.least(2);
    leave();
    writers.notify();
    expect(calls).to.equal(before);
  });

  it('names views that no controller writes, and suggests a view with a similar name', () => {
    const writers = new ViewWriters();
    const reader = writer(['NodeLaod', 'NodeLoad', 'apps/Deployment'], 'apps/Deployment');
    for (const each of [writer([], 'NodeLoad'), reader]) writers.add(each);
    expect(writers.unfilledOf(reader)).to.deep.equal([
      'no controller fills the view NodeLaod of op, so it counts as empty; did you mean NodeLoad?',
    ]);
    writers.add(writer([], anyKindOf(group)));
    expect(writers.unfilledOf(reader)).to.deep.equal([]);
  });

  it('delays controllers that read views of each other until all have read their lists, and all others that write their sources have written', async () => {
    const writers = new ViewWriters();
    const circle = [writer(['A'], 'B'), writer(['B'], 'C'), writer(['C', 'D'], 'A')] as const;
    const [first, , last] = circle;
    const own = writer(['S'], 'S');
    for (const each of [...circle, own]) writers.add(each);
    expect(await isWaiting(writers.whenWritten(own, signal))).to.equal(false);
    expect(await isWaiting(writers.whenWritten(first, signal))).to.equal(true);
    for (const each of circle) each.progress = 'listed';
    for (const each of circle) {
      expect(await isWaiting(writers.whenWritten(each, signal))).to.equal(false);
    }
    // All members wait for each external writer of the cycle.
    writers.add(writer([], 'D'));
    expect(await isWaiting(writers.whenWritten(last, signal))).to.equal(true);
    expect(await isWaiting(writers.whenWritten(first, signal))).to.equal(true);
  });

  it('delays a controller that reads views of one that cannot run, even if each reads views of the other', async () => {
    const writers = new ViewWriters();
    const reader = writer(['V'], 'W');
    writers.add(reader);
    writers.add(writer(['W'], 'V', { progress: 'unable' }));
    expect(await isWaiting(writers.whenWritten(reader, signal))).to.equal(true);
  });

  it('delays a controller if another one has an unknown target, which could be its source', async () => {
    const writers = new ViewWriters();
    const [reader, foreign] = [writer(['V'], 'W'), writer([`${group}s/V`, 'ex/V'], 'x/W')];
    for (const each of [reader, foreign]) writers.add(each);
    writers.add(writer([], anyKindOf(group), { progress: 'unable' }));
    expect(await isWaiting(writers.whenWritten(reader, signal))).to.equal(true);
    expect(await isWaiting(writers.whenWritten(foreign, signal))).to.equal(false);
  });

  it('names the failing controller that delays another one, directly or through others', () => {
    const writers = new ViewWriters();
    const [reader, near] = [writer(['V'], 'W'), writer(['U'], 'V')];
    const far = writer(['W'], 'U', { name: 'far' });
    for (const each of [reader, near, far]) writers.add(each);
    expect(writers.troubleOf(reader)).to.equal(undefined);
    far.trouble = 'no';
    expect(writers.troubleOf(reader)).to.equal(`waits for op/far, which fills ${group}/U: no`);
    for (const each of [near, far]) each.progress = 'tried';
    expect(writers.troubleOf(reader)).to.equal(undefined);
  });

  it('reports the operators whose views may contain data of Secrets', () => {
    const writers = new ViewWriters();
    writers.add(writer(['/ConfigMap'], 'V'));
    expect(writers.mayHoldSecrets('op')).to.equal(false);
    for (const [one, operator] of [
      [writer(['/Secret'], 'V', { readsSecrets: true }), 'op'],
      [writer(['other.view.dcontroller.io/V'], 'V'), 'op'],
      [writer(['/Pod'], 'V', { operator: 'other' }), 'op'],
    ] as const) {
      const leave = writers.add(one);
      expect(writers.mayHoldSecrets(operator)).to.equal(true);
      leave();
      expect(writers.mayHoldSecrets(operator)).to.equal(false);
    }
  });

  it('ends a wait when its signal aborts', async () => {
    const writers = new ViewWriters();
    writers.add(writer([], 'V'));
    const ended = new AbortController();
    const wait = writers.whenWritten(writer(['V'], 'W'), ended.signal);
    ended.abort(new Error('enough'));
    expect(await wait.catch(String)).to.equal('Error: enough');
  });
});

describe('TargetWrites, which records the writes of declarative controllers', () => {
  const lineage = (controller: string): ReadonlyMap<string, number> => new Map([[controller, 1]]);
  const settled = (controller: string, version: string | undefined) => ({
    ...{ controller, version, lineage: lineage(controller), atMs: 7 },
  });

  it('returns the writes that led to a version of an object', () => {
    const writes = new TargetWrites();
    expect([writes.lineageOf('a', '1'), writes.lastOf('a')]).to.deep.equal([undefined, undefined]);
    writes.begin('a', 'one', lineage('one'));
    // The event of a write may arrive before its response.
    expect(writes.lineageOf('a', '5')).to.deep.equal(lineage('one'));
    writes.end('a', 'one', settled('one', '5'));
    expect(writes.lastOf('a')).to.deep.equal(settled('one', '5'));
    const known = (['4', '5', '6', undefined] as const).map((at) => writes.lineageOf('a', at));
    expect(known).to.deep.equal([lineage('one'), lineage('one'), undefined, undefined]);
    const by = (['4', '5', '6'] as const).map((at) => writes.isBy('one', 'a', at));
    expect(by).to.deep.equal([true, true, false]);
    expect(writes.isBy('other', 'a', '5')).to.equal(false);
    writes.begin('a', 'other', lineage('other'));
    const now = (['5', '6'] as const).map((at) => writes.lineageOf('a', at));
    expect(now).to.deep.equal([lineage('one'), lineage('other')]);
    writes.end('a', 'other', undefined);
    expect(writes.lineageOf('a', '6')).to.equal(undefined);
    writes.end('a', 'other', settled('other', undefined));
    expect(writes.lineageOf('a', '9')).to.deep.equal(lineage('other'));
    expect(writes.isBy('other', 'a', '9')).to.equal(false);
    writes.end('b', 'one', settled('one', '5'));
    expect(writes.lastOf('b')).to.equal(undefined);
  });

  it('keeps records of 10,000 written objects, and no record of an object that a write left unchanged', () => {
    const writes = new TargetWrites();
    const one = settled('one', '5');
    const write = (object: string): void => {
      writes.begin(object, 'one', lineage('one'));
      writes.end(object, 'one', one);
    };
    for (const object of ['first', 'second']) write(object);
    for (let n = 0; n < 10_000; n++) {
      writes.begin(`u${n}`, 'one', lineage('one'));
      writes.end(`u${n}`, 'one', undefined);
    }
    for (let n = 0; n < 9_998; n++) write(`n${n}`);
    write('first');
    expect(writes.lastOf('second')).to.deep.equal(one);
    write('one more');
    expect(writes.lastOf('second')).to.equal(undefined);
    expect(writes.lastOf('first')).to.deep.equal(one);
  });

  it('lets only the first controller that claims an object write it, until this controller releases the object', () => {
    const writes = new TargetWrites();
    const acquired: string[] = [];
    const claimantOf = (controller: string) => ({
      controller,
      acquired: ({ name }: { readonly name: string }) =>
        void acquired.push(`${controller} ${name}`),
    });
    const [one, two, three] = [claimantOf('one'), claimantOf('two'), claimantOf('three')];
    const claim = (claimant: typeof one, name = 'a') =>
      writes.claim(name, { claimant, key: { name } });
    expect([claim(one), claim(two), claim(one), claim(three), claim(two)]).to.deep.equal([
      ...[undefined, 'one', undefined, 'one', 'one'],
    ]);
    expect(claim(two, 'b')).to.equal(undefined);
    writes.release('a', two);
    expect([writes.ownerOf('a'), acquired]).to.deep.equal([one, []]);
    claim(two);
    writes.release('a', one);
    expect([writes.ownerOf('a'), acquired]).to.deep.equal([three, ['three a']]);
    writes.release('c', one);
    writes.releaseAll(three);
    expect(acquired).to.deep.equal(['three a', 'two a']);
    writes.releaseAll(two);
    expect([writes.ownerOf('a'), writes.ownerOf('b')]).to.deep.equal([undefined, undefined]);
    expect(acquired).to.have.length(2);
    expect(claim(one)).to.equal(undefined);
  });

  it('identifies objects by group, kind, namespace and name', () => {
    const key = { namespace: 'ns', name: 'a' };
    expect(targetText({ apiVersion: 'apps/v1', kind: 'Deployment' }, key)).to.equal(
      'apps/Deployment ns/a',
    );
    expect(targetText({ apiVersion: 'v1', kind: 'Node' }, { name: 'n' })).to.equal('/Node n');
  });
});
