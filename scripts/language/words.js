/**
 * Words that comments, messages, titles of specs and pages avoid, each with a replacement. `rule.js` checks code,
 * and `pages.js` checks pages; both run in `npm run lint`.
 */
export const avoided = [
  { pattern: /\banew\b|\bonce more\b/i, better: 'again' },
  { pattern: /\bany more\b/i, better: 'no longer' },
  { pattern: /\bfor ever\b/i, better: 'forever, until restart' },
  { pattern: /\bheed(?:s|ed|ing)?\b/i, better: 'handle' },
  { pattern: /\bhear(?:s|d)? (?:of|from)\b/i, better: 'receive, is notified of' },
  { pattern: /\b(?:is|are|be|been|was|were) told\b/i, better: 'receives, is notified of' },
  { pattern: /\bbecom(?:es?|ing) of\b/i, better: 'the result of' },
  { pattern: /\b(?:is|are|be|was|were) none\b/, better: 'is invalid, is undefined, must not be …' },
  { pattern: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b)[a-z]/i, better: 'is not a …' },
  { pattern: /\bat a time when\b/i, better: 'while' },
  {
    pattern: /(?<!["-])\b(?:whoever|somebody|nobody|anybody)\b/i,
    better: 'the actor: caller, user, server',
  },
  { pattern: /\bmakes? (?:it|them) so\b/i, better: 'applies it' },
  { pattern: /\bwho (?:lacks?|asks?|wants?)\b/i, better: 'a caller without …, the client' },
  { pattern: /\b(?:leavers?|mortals?)\b/i, better: 'the concept: previous owner, crashing client' },
  { pattern: /\b(?:each|every|this|next|last|one) pass\b/i, better: 'reconcile' },
];

/** Pattern of unsuitable first words of a doc comment. */
export const opening = {
  pattern: /^(?:What|Who|Whom|Whose|Whoever|Of|That|Those)\b/,
  better: 'a verb ("Returns …") or the noun of the thing ("Options of …")',
};

/** Returns the avoided words in `text`, each with the words to write. */
export function problemsIn(text) {
  return avoided.flatMap(({ pattern, better }) => {
    const found = pattern.exec(text);
    return found === null ? [] : [{ index: found.index, found: found[0], better }];
  });
}
