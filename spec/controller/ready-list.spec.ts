import { expect } from 'chai';
import fc from 'fast-check';
import { ReadyList } from '../../lib/controller/ready-list.js';
import type { Ticket } from '../../lib/controller/ready-list.js';

function ticket(key: string, priority = 0): Ticket {
  return { key, section: '', group: key.split('/')[0]!, priority, taken: false };
}

function takeAll(list: ReadyList): string[] {
  const keys: string[] = [];
  for (let next = list.take(); next !== undefined; next = list.take()) keys.push(next.key);
  return keys;
}

const never = Number.MAX_SAFE_INTEGER;

describe('ReadyList', () => {
  it('hands out the highest priority first, and keeps insertion order within a priority', () => {
    const list = new ReadyList(never);
    const tickets = [ticket('a/1', -100), ticket('a/2'), ticket('a/3', 5), ticket('a/4')];
    for (const each of tickets) list.add(each);
    expect(takeAll(list)).to.deep.equal(['a/3', 'a/2', 'a/4', 'a/1']);
  });

  it('hands out keys of the groups in turn, however many keys a group has', () => {
    const list = new ReadyList(never);
    for (const key of ['a/1', 'a/2', 'a/3', 'b/1', 'c/1', 'c/2']) list.add(ticket(key));
    expect(takeAll(list)).to.deep.equal(['a/1', 'b/1', 'c/1', 'a/2', 'c/2', 'a/3']);
  });

  it('hands out a key whose priority was raised once, at its new priority', () => {
    const list = new ReadyList(never);
    const low = ticket('a/low', -100);
    for (const each of [low, ticket('a/1'), ticket('a/2')]) list.add(each);
    list.raise(low, 1);
    expect(takeAll(list)).to.deep.equal(['a/low', 'a/1', 'a/2']);
  });

  it('gives every nth turn to the key that has waited longest', () => {
    const list = new ReadyList(3);
    list.add(ticket('a/low', -100));
    for (let n = 1; n <= 4; n++) list.add(ticket(`a/${n}`));
    expect(takeAll(list)).to.deep.equal(['a/1', 'a/2', 'a/low', 'a/3', 'a/4']);
  });

  it('hands out keys of a group again that was empty and has keys again', () => {
    const list = new ReadyList(never);
    for (const key of ['a/1', 'b/1', 'b/2', 'b/3', 'b/4']) list.add(ticket(key));
    expect([1, 2, 3].map(() => list.take()?.key)).to.deep.equal(['a/1', 'b/1', 'b/2']);
    list.add(ticket('a/2'));
    expect([1, 2].map(() => list.take()?.key)).to.include('a/2');
  });

  it('hands out each ticket once, the nth waiting ticket after at most n * agingEvery other tickets', () => {
    const keys = fc.record({
      group: fc.constantFrom('a', 'b', 'c'),
      priority: fc.constantFrom(-100, 0, 7),
      // Tickets of higher priority that arrive before the next take().
      crowd: fc.nat(2),
    });
    const property = fc.property(fc.array(keys), fc.integer({ min: 1, max: 5 }), (line, every) => {
      const list = new ReadyList(every);
      line.forEach(({ group, priority }, n) => list.add(ticket(`${group}/${n}`, priority)));
      const waiting = new Map(line.map(({ group }, n) => [`${group}/${n}`, n + 1]));
      for (let turn = 1; waiting.size > 0; turn++) {
        const crowd = line[turn % line.length]?.crowd ?? 0;
        for (let n = 0; n < crowd; n++) list.add(ticket(`vip/${turn}-${n}`, 100));
        const taken = list.take();
        const place = waiting.get(taken?.key ?? '') ?? Infinity;
        expect(turn).to.be.at.most(place * every);
        waiting.delete(taken?.key ?? '');
        for (const other of waiting.values()) expect(turn).to.be.below(other * every);
      }
    });
    fc.assert(property);
  });

  it('does not keep taken tickets of a priority that is handed out only by aging', () => {
    const list = new ReadyList(2);
    list.add(ticket('a/0'));
    for (let n = 0; n < 1_000; n++) {
      list.add(ticket(`a/low${n}`, -100));
      list.add(ticket(`a/${n}`));
      list.take();
      list.take();
    }
    expect(list.size).to.equal(1);
    expect(list.held).to.be.below(10);
  });

  it('keeps nothing in memory when no ticket waits', () => {
    const list = new ReadyList(8);
    const tickets = Array.from({ length: 50 }, (_, n) => {
      return { key: `ns${n}/a`, section: '', group: `ns${n}`, priority: n % 3, taken: false };
    });
    for (const ticket of tickets) list.add(ticket);
    for (const ticket of tickets.slice(0, 20)) list.remove(ticket);
    while (list.take() !== undefined);
    expect(list.held).to.equal(0);
  });
});
