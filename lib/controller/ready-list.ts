import { Fifo } from './fifo.js';
import { ArrivalLine, TakingTurns } from './line-of-tickets.js';
import type { Ticket, TicketLine } from './line-of-tickets.js';

/** The tickets of one priority: clusters take turns, then namespaces, then the order of arrival. */
interface Band {
  readonly priority: number;
  readonly line: TicketLine;
}

/*
 *   bands:   0    │ turns: shop, bank │ shop: t1 t4 t5   bank: t2
 *          -100   │ turns: shop       │ shop: t3
 *   byAge:   t1 t2 t3 t4 t5
 *
 * A ticket is in one band and in `byAge`. The list that hands it out marks it as taken, and the other one
 * skips it later.
 */

/**
 * Keys that wait for a worker. The highest priority goes first. Within a priority, clusters take turns, and
 * within a cluster, namespaces, whatever the number of their keys. Within a namespace, the order of arrival
 * decides. Every `agingEvery`th turn goes to the key that has waited longest, so that no key starves: the nth
 * in line is handed out after at most `n * agingEvery` others.
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

  /** The number of held tickets, including taken ones; specs use it to detect leaks. */
  get held(): number {
    return this.#bands.reduce((sum, { line }) => sum + line.size, this.#byAge.size);
  }

  /** Adds a ticket that is not in any list. */
  add(ticket: Ticket): void {
    this.#size++;
    this.#byAge.push(ticket);
    this.#band(ticket.priority).line.add(ticket);
  }

  /** Moves a waiting ticket to a higher priority; it keeps its age. */
  raise(ticket: Ticket, priority: number): void {
    ticket.priority = priority;
    this.#band(priority).line.add(ticket);
  }

  /** Removes a waiting ticket. */
  remove(ticket: Ticket): void {
    this.#size--;
    this.#takeOffLine(ticket);
    while (this.#byAge.peek()?.taken === true) this.#byAge.shift();
    this.#letGo();
  }

  /** Removes and returns the next ticket, or undefined. */
  take(): Ticket | undefined {
    if (this.#size === 0) return undefined;
    this.#size--;
    const isAgesTurn = ++this.#handedOut % this.#agingEvery === 0;
    const ticket = (isAgesTurn ? undefined : this.#takeByPriority()) ?? this.#takeByAge();
    if (ticket !== undefined) ticket.taken = true;
    this.#letGo();
    return ticket;
  }

  // If no ticket waits, the lists hold only taken tickets and turns of their lines. Drop them all at once:
  // skipping a million of them one by one takes a second.
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

  // The oldest ticket also leads its line. Drop it there too: otherwise a low priority that never gets a turn
  // would keep every ticket it ever held.
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
