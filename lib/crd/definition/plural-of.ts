/** Returns the English plural as kubebuilder guesses it. */
export function pluralOf(singular: string): string {
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/.test(singular) ? `${singular}es` : `${singular}s`;
}
