/**
 * Returns `text` with the changes of `diff`. Lines that begin with a space are context, `-` marks removed lines and
 * `+` added ones. Lines that begin with `@@` separate the places, which are in the order of the text.
 * @throws Error a place is missing or ambiguous, so that a reader could not find it either
 */
export function editText(text: string, diff: string): string {
  const places = diff.split(/^@@.*\n/m).filter((place) => place.trim() !== '');
  return places.reduce(editPlace, text);
}

function editPlace(text: string, place: string): string {
  const lines = place.replace(/\n$/, '').split('\n');
  const found = linesWith(lines, ' -');
  const count = `\n${text}`.split(`\n${found}`).length - 1;
  if (count !== 1) throw new Error(`${count} places, not one, are:\n${found}`);
  const [before = '', after = ''] = `\n${text}`.split(`\n${found}`);
  return `${before}\n${linesWith(lines, ' +')}${after}`.slice(1);
}

function linesWith(lines: readonly string[], marks: string): string {
  return lines
    .map((line) => (line === '' ? ' ' : line))
    .filter((line) => marks.includes(line.charAt(0)))
    .map((line) => `${line.slice(1)}\n`)
    .join('');
}
