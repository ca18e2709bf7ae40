/**
 * The reference tokens of a JSON pointer (RFC 6901), unescaped; none for the whole document.
 * @returns undefined where `pointer` is none: it does not begin with `/`
 */
export function parseJsonPointer(pointer: string): string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) return undefined;
  // One pass, or `~01`, which is `~1`, would become `/`.
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll(/~[01]/g, (escaped) => (escaped === '~0' ? '~' : '/')));
}

/** The JSON pointer (RFC 6901) of reference tokens. */
export function formatJsonPointer(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Whether every `~` of `pointer` is an escape that RFC 6901 knows. */
export function isWellEscaped(pointer: string): boolean {
  return !/~(?![01])/.test(pointer);
}
