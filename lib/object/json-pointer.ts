/**
 * Returns the reference tokens of a JSON pointer (RFC 6901), unescaped; empty for the whole document.
 * @returns undefined if `pointer` is invalid: it does not begin with `/`
 */
export function parseJsonPointer(pointer: string): string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) return undefined;
  // A single replacement, because `~01`, which is `~1`, would otherwise become `/`.
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll(/~[01]/g, (escaped) => (escaped === '~0' ? '~' : '/')));
}

/** Formats reference tokens as a JSON pointer (RFC 6901). */
export function formatJsonPointer(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Whether every `~` of `pointer` is a valid escape of RFC 6901. */
export function isWellEscaped(pointer: string): boolean {
  return !/~(?![01])/.test(pointer);
}
