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
 * Keys that wait for a worker. The highest priority goes first. Within a priority, clusters take turns;
 * within a cluster, namespaces do. The number of their keys does not matter. Within a namespace, the order of
 * arrival decides. Every `agingEvery`th turn goes to the key that has waited longest, so that no key starves.
 * The nth longest waiting key is handed out after at most `n * agingEvery` other keys.
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

/*
 *   items:  [ -  -  -  c  d  e ]
 *                      ^head
 */

/** A queue in the order of arrival, with amortized constant time at both ends. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Returns the first item, or undefined. */
  peek(): T | undefined {
    return this.#items[this.#head];
  }

  clear(): void {
    if (this.#items.length > 0) this.#items = [];
    this.#head = 0;
  }

  /** Removes and returns the first item, or undefined. */
  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    // Half of the array is empty, so moving the rest costs at most one step per item.
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
