import { isIpv4, isIpv6 } from './network-addresses.js';

/**
 * Returns whether a text is a single RFC 5322 address as Go's `mail.ParseAddress` reads it: plain (`a@b.c`),
 * named (`Ann <a@b.c>`), or the only member of a group.
 */
export function isEmailAddress(text: string): boolean {
  const reader = new AddressReader(text);
  return reader.address(true) === 1 && reader.skipComments() && reader.atEnd;
}

class AddressReader {
  readonly #characters: readonly string[];
  #next = 0;

  constructor(text: string) {
    this.#characters = Array.from(text);
  }

  get atEnd(): boolean {
    return this.#next >= this.#characters.length;
  }

  get #peek(): string {
    return this.#characters[this.#next] ?? '';
  }

  /** Returns the number of addresses read; 0 if invalid. */
  address(orGroup: boolean): number {
    this.#skipSpace();
    const start = this.#next;
    if (this.#plain()) return 1;
    this.#next = start;
    if (this.#peek !== '<' && !this.#phrase()) return 0;
    this.#skipSpace();
    if (orGroup && this.#take(':')) return this.#group();
    return this.#take('<') && this.#plain() && this.#take('>') ? 1 : 0;
  }

  /** Returns whether all comments that follow are terminated. */
  skipComments(): boolean {
    this.#skipSpace();
    while (this.#take('(')) {
      if (!this.#comment()) return false;
      this.#skipSpace();
    }
    return true;
  }

  #take(character: string): boolean {
    if (this.#peek !== character) return false;
    this.#next++;
    return true;
  }

  #skipSpace(): void {
    while (isSpace(this.#peek)) this.#next++;
  }

  #comment(): boolean {
    let depth = 1;
    for (; depth > 0; this.#next++) {
      if (this.atEnd) return false;
      if (this.#peek === '\\' && this.#next + 1 < this.#characters.length) this.#next++;
      else if (this.#peek === '(') depth++;
      else if (this.#peek === ')') depth--;
    }
    return true;
  }

  #group(): number {
    let count = 0;
    this.#skipSpace();
    if (this.#take(';')) return 0;
    for (;;) {
      const found = this.address(false);
      if (found === 0) return 0;
      count += found;
      if (!this.skipComments()) return 0;
      if (this.#take(';')) return this.skipComments() ? count : 0;
      if (!this.#take(',')) return 0;
    }
  }

  /** `local@domain` */
  #plain(): boolean {
    this.#skipSpace();
    const local = this.#peek === '"' ? this.#quoted() : this.#atom(false);
    if (local === undefined || local === '' || !this.#take('@')) return false;
    this.#skipSpace();
    return this.#peek === '[' ? this.#literal() : this.#atom(false) !== undefined;
  }

  #phrase(): boolean {
    let words = 0;
    for (;;) {
      if (words > 0 && !this.skipComments()) return false;
      this.#skipSpace();
      if (this.atEnd) break;
      const word = this.#peek === '"' ? this.#quoted() : this.#atom(true);
      if (word === undefined) break;
      words++;
    }
    return words > 0;
  }

  /** Returns undefined if the text is unterminated or has control characters. */
  #quoted(): string | undefined {
    let text = '';
    for (this.#next++; !this.#take('"'); this.#next++) {
      if (this.#peek === '\\') this.#next++;
      else if (!isVisible(this.#peek) && !isSpace(this.#peek)) return undefined;
      if (!isVisible(this.#peek) && !isSpace(this.#peek)) return undefined;
      text += this.#peek;
    }
    return text;
  }

  /** @param permissive - allows dots anywhere */
  #atom(permissive: boolean): string | undefined {
    let text = '';
    for (; isVisible(this.#peek) && !'()<>[]:;@\\,"'.includes(this.#peek); this.#next++) {
      text += this.#peek;
    }
    if (text === '') return undefined;
    const dotted = text.startsWith('.') || text.endsWith('.') || text.includes('..');
    return dotted && !permissive ? undefined : text;
  }

  /** Reads a network address in brackets. */
  #literal(): boolean {
    const end = this.#characters.indexOf(']', this.#next);
    if (end < 0) return false;
    const address = this.#characters.slice(this.#next + 1, end).join('');
    this.#next = end + 1;
    return isIpv4(address) || isIpv6(address);
  }
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\t';
}

/** Every character beyond ASCII counts as visible. */
function isVisible(character: string): boolean {
  return character > ' ' && character !== '\x7f';
}
