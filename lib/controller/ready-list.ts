import { Fifo } from './fifo.js';

/** A key that waits for a worker. */
export interface Ticket {
  readonly key: string;
  /** Whose turn it takes: its namespace. */
  readonly group: string;
  /** Higher goes first. */
  priority: number;
  /** Handed out already; a list that still holds it passes over it. */
  taken: boolean;
}

/** One priority: its groups take turns, each in the order of arrival. */
interface Band {
  readonly priority: number;
  readonly groups: Map<string, Fifo<Ticket>>;
  /** The groups with tickets, the next one first. */
  readonly turns: Fifo<string>;
}

/*
 *   bands:   0    │ turns: shop, bank │ shop: t1 t4 t5   bank: t2
 *          -100   │ turns: shop       │ shop: t3
 *   byAge:   t1 t2 t3 t4 t5
 *
 * A ticket stands in one band and in `byAge`. Whichever hands it out marks it as taken; the other
 * passes over it later.
 */

/**
 * Keys that wait for a worker. The highest priority goes first; within one, groups take turns,
 * whatever the number of their keys; within a group, who came first. But every `agingEvery`th goes to
 * the key that has waited longest of all, so that nothing starves: the nth in line is handed out
 * after at most `n * agingEvery` others.
 */
export class ReadyList {
  readonly #agingEvery: number;
  readonly #bands: Band[] = [];
  readonly #byAge = new Fifo<Ticket>();
  #size = 0;
  #handedOut = 0;

  constructor(agingEvery: number) {
    this.#agingEvery = agingEvery;
  }

  get size(): number {
    return this.#size;
  }

  /** How many tickets are held, taken ones included; a leak spec wants few. */
  get held(): number {
    const lines = this.#bands.flatMap(({ groups }) => [...groups.values()]);
    return lines.reduce((sum, line) => sum + line.size, this.#byAge.size);
  }

  /** Adds a ticket that is in no list. */
  add(ticket: Ticket): void {
    this.#size++;
    this.#byAge.push(ticket);
    this.#line(ticket);
  }

  /** Moves a ticket that waits to a higher priority; its age stays. */
  raise(ticket: Ticket, priority: number): void {
    ticket.priority = priority;
    this.#line(ticket);
  }

  /** Hands out the next ticket, or undefined. */
  take(): Ticket | undefined {
    if (this.#size === 0) return undefined;
    this.#size--;
    const isAgesTurn = ++this.#handedOut % this.#agingEvery === 0;
    const ticket = (isAgesTurn ? undefined : this.#takeByPriority()) ?? this.#takeByAge();
    if (ticket !== undefined) ticket.taken = true;
    return ticket;
  }

  #line(ticket: Ticket): void {
    const { groups, turns } = this.#band(ticket.priority);
    const line = groups.get(ticket.group);
    if (line !== undefined) {
      line.push(ticket);
      return;
    }
    const first = new Fifo<Ticket>();
    first.push(ticket);
    groups.set(ticket.group, first);
    turns.push(ticket.group);
  }

  #band(priority: number): Band {
    const at = this.#bands.findIndex((band) => band.priority <= priority);
    const found = this.#bands[at];
    if (found?.priority === priority) return found;
    const band = { priority, groups: new Map<string, Fifo<Ticket>>(), turns: new Fifo<string>() };
    this.#bands.splice(at < 0 ? this.#bands.length : at, 0, band);
    return band;
  }

  #takeByPriority(): Ticket | undefined {
    for (let band = this.#bands[0]; band !== undefined; band = this.#bands[0]) {
      const ticket = takeFrom(band);
      if (ticket !== undefined) return ticket;
      this.#bands.shift();
    }
    return undefined;
  }

  #takeByAge(): Ticket | undefined {
    for (let ticket = this.#byAge.shift(); ticket !== undefined; ticket = this.#byAge.shift()) {
      if (ticket.taken) continue;
      this.#takeOffLine(ticket);
      return ticket;
    }
    return undefined;
  }

  // The oldest of all stands first in its line, too: a low priority whose turn never comes would
  // keep every ticket that ever stood in it.
  #takeOffLine(ticket: Ticket): void {
    ticket.taken = true;
    const line = this.#band(ticket.priority).groups.get(ticket.group);
    while (line?.peek()?.taken === true) line.shift();
  }
}

function takeFrom({ groups, turns }: Band): Ticket | undefined {
  for (let group = turns.shift(); group !== undefined; group = turns.shift()) {
    const line = groups.get(group);
    const ticket = line && takeValid(line);
    // What is left may all be taken or raised already: found out at the group's next turn.
    if (line !== undefined && line.size > 0) turns.push(group);
    else groups.delete(group);
    if (ticket !== undefined) return ticket;
  }
  return undefined;
}

function takeValid(line: Fifo<Ticket>): Ticket | undefined {
  for (let ticket = line.shift(); ticket !== undefined; ticket = line.shift()) {
    // One that was raised since is still here, but was found further up.
    if (!ticket.taken) return ticket;
  }
  return undefined;
}
