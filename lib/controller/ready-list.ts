import { Fifo } from './fifo.js';
import { ArrivalLine, TakingTurns } from './line-of-tickets.js';
import type { Ticket, TicketLine } from './line-of-tickets.js';

/** One priority: its clusters take turns, in each its namespaces, in each the order of arrival. */
interface Band {
  readonly priority: number;
  readonly line: TicketLine;
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
 * Keys that wait for a worker. The highest priority goes first; within one, clusters take turns, and
 * within one of these, namespaces, whatever the number of their keys; within a namespace, who came
 * first. But every `agingEvery`th goes to the key that has waited longest of all, so that nothing
 * starves: the nth in line is handed out after at most `n * agingEvery` others.
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
    return this.#bands.reduce((sum, { line }) => sum + line.size, this.#byAge.size);
  }

  /** Adds a ticket that is in no list. */
  add(ticket: Ticket): void {
    this.#size++;
    this.#byAge.push(ticket);
    this.#band(ticket.priority).line.add(ticket);
  }

  /** Moves a ticket that waits to a higher priority; its age stays. */
  raise(ticket: Ticket, priority: number): void {
    ticket.priority = priority;
    this.#band(priority).line.add(ticket);
  }

  /** Drops a ticket that waits. */
  remove(ticket: Ticket): void {
    this.#size--;
    this.#takeOffLine(ticket);
    while (this.#byAge.peek()?.taken === true) this.#byAge.shift();
    this.#letGo();
  }

  /** Hands out the next ticket, or undefined. */
  take(): Ticket | undefined {
    if (this.#size === 0) return undefined;
    this.#size--;
    const isAgesTurn = ++this.#handedOut % this.#agingEvery === 0;
    const ticket = (isAgesTurn ? undefined : this.#takeByPriority()) ?? this.#takeByAge();
    if (ticket !== undefined) ticket.taken = true;
    this.#letGo();
    return ticket;
  }

  // Nothing waits: what is held are taken tickets, and turns of lines that hold no others. To pass
  // over a million of them one by one takes a second.
  #letGo(): void {
    if (this.#size > 0) return;
    this.#byAge.clear();
    const [first] = this.#bands;
    this.#bands.length = first?.line.isEmpty === true ? 1 : 0;
  }

  #band(priority: number): Band {
    const at = this.#bands.findIndex((band) => band.priority <= priority);
    const found = this.#bands[at];
    if (found?.priority === priority) return found;
    const band = { priority, line: newLine() };
    this.#bands.splice(at < 0 ? this.#bands.length : at, 0, band);
    return band;
  }

  #takeByPriority(): Ticket | undefined {
    for (let band = this.#bands[0]; band !== undefined; band = this.#bands[0]) {
      const ticket = band.line.take();
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
    this.#band(ticket.priority).line.dropTaken(ticket);
  }
}

function newLine(): TicketLine {
  const section = (): TicketLine => new TakingTurns(({ group }) => group, newArrivalLine);
  return new TakingTurns(({ section: name }) => name, section);
}

function newArrivalLine(): TicketLine {
  return new ArrivalLine();
}
