const mark = ' … ';

/**
 * `text`, with at most `most` characters (UTF-16 units): of a longer one the beginning and the end,
 * which say what it is about and what is wrong. No surrogate pair is cut in two.
 * @param most - at least 5 @defaultValue 1_000
 */
export function trimMiddle(text: string, most = 1_000): string {
  if (text.length <= most) return text;
  const kept = most - mark.length;
  const head = text.slice(0, Math.ceil(kept / 2)).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - Math.floor(kept / 2)).replace(/^[\uDC00-\uDFFF]/, '');
  return `${head}${mark}${tail}`;
}
