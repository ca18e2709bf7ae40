import { Fifo } from './fifo.js';

/** A key that waits for a worker. */
export interface Ticket {
  readonly key: string;
  /** The cluster, for turns among all tickets. */
  readonly section: string;
  /** The namespace, for turns within the section. */
  readonly group: string;
  /** Higher goes first. */
  priority: number;
  /** True once handed out or dropped; a line that still holds the ticket skips it. */
  taken: boolean;
}

/** Waiting tickets in some order. */
export interface TicketLine {
  /** The number of held tickets, including taken ones. */
  readonly size: number;
  /** True if no ticket is held; cheap. */
  readonly isEmpty: boolean;
  add(ticket: Ticket): void;
  /** Removes and returns the next ticket that is not taken, or undefined. */
  take(): Ticket | undefined;
  /** Drops leading taken tickets from the line of `ticket`. */
  dropTaken(ticket: Ticket): void;
}

/** Tickets in the order of arrival. */
export class ArrivalLine implements TicketLine {
  readonly #tickets = new Fifo<Ticket>();

  get size(): number {
    return this.#tickets.size;
  }

  get isEmpty(): boolean {
    return this.#tickets.size === 0;
  }

  add(ticket: Ticket): void {
    this.#tickets.push(ticket);
  }

  take(): Ticket | undefined {
    for (let next = this.#tickets.shift(); next !== undefined; next = this.#tickets.shift()) {
      if (!next.taken) return next;
    }
    return undefined;
  }

  dropTaken(): void {
    while (this.#tickets.peek()?.taken === true) this.#tickets.shift();
  }
}

/*
 *   turns:  shop, bank
 *   lines:  shop: t1 t4 t5
 *           bank: t2
 */

/** Lines that take turns, regardless of their lengths. */
export class TakingTurns implements TicketLine {
  readonly #nameOf: (ticket: Ticket) => string;
  readonly #newLine: () => TicketLine;
  readonly #lines = new Map<string, TicketLine>();
  readonly #turns = new Fifo<string>();
  /** The line that emptied last, kept for reuse: often a single key arrives at a time. */
  #spare: TicketLine | undefined;

  constructor(nameOf: (ticket: Ticket) => string, newLine: () => TicketLine) {
    this.#nameOf = nameOf;
    this.#newLine = newLine;
  }

  get size(): number {
    let size = 0;
    for (const line of this.#lines.values()) size += line.size;
    return size;
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  add(ticket: Ticket): void {
    const name = this.#nameOf(ticket);
    let line = this.#lines.get(name);
    if (line === undefined) {
      line = this.#spare ?? this.#newLine();
      this.#spare = undefined;
      this.#lines.set(name, line);
      this.#turns.push(name);
    }
    line.add(ticket);
  }

  take(): Ticket | undefined {
    for (let name = this.#turns.shift(); name !== undefined; name = this.#turns.shift()) {
      const line = this.#lines.get(name);
      const ticket = line?.take();
      // Remove an empty line at once: otherwise a later call would have to skip many empty lines.
      if (line?.isEmpty === false) this.#turns.push(name);
      else {
        this.#lines.delete(name);
        this.#spare = line;
      }
      if (ticket !== undefined) return ticket;
    }
    return undefined;
  }

  dropTaken(ticket: Ticket): void {
    this.#lines.get(this.#nameOf(ticket))?.dropTaken(ticket);
  }
}
