const mark = ' … ';

/**
 * Returns `text` with at most `most` characters (UTF-16 units). A longer text keeps its beginning and its
 * end, which usually name the subject and the problem. Surrogate pairs stay whole.
 * @param most - at least 5
 * @defaultValue 1_000
 */
export function trimMiddle(text: string, most = 1_000): string {
  if (text.length <= most) return text;
  const kept = most - mark.length;
  const head = text.slice(0, Math.ceil(kept / 2)).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - Math.floor(kept / 2)).replace(/^[\uDC00-\uDFFF]/, '');
  return `${head}${mark}${tail}`;
}
