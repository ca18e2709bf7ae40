import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { answersOf } from '../comparison.js';
import { startEmbedded } from '../servers.js';
import type { Answer } from '../servers.js';
import { subjects } from '../subjects/index.js';

/** The seed of the recorded requests. */
const seed = 1;

/** Digests of the answers to the requests of each scenario, by its title. */
type Digests = Readonly<Record<string, string>>;

const recording = new URL('answers.json', import.meta.url);

/**
 * Sends the requests of a subject to an embedded server, which must answer as it did when a comparison with a
 * real server found no difference.
 */
export function answersSuite(subject: string): void {
  describe(`the answers to requests about ${subject}`, function () {
    this.timeout(120_000);
    const scenarios = subjects[subject]?.(seed) ?? [];
    const recorded = JSON.parse(readFileSync(recording, 'utf8')) as Digests;
    let answers: ReadonlyMap<string, readonly Answer[]>;

    before(async () => {
      answers = await answersTo(subject);
    });

    for (const { title, requests } of scenarios) {
      it(`are those of a real server: ${title}`, () => {
        const own = answers.get(title) ?? [];
        const wanted = (recorded[title] ?? '').split(' ');
        const wrong = own.findIndex((answer, index) => digestOf(answer) !== wanted[index]);
        const { method, path } = requests[wrong] ?? { method: 'GET', path: '' };
        const remedy = `npm run differential -- --subject ${subject} shows the answer of a real server`;
        const shown = `${method} ${path}: ${JSON.stringify(own[wrong])}; ${remedy}`;
        expect(wrong, shown).to.equal(-1);
        expect(own).to.have.length(wanted.length);
      });
    }
  });
}

/** Records the embedded server's answers to all subjects, after a comparison that found no difference. */
export async function recordAnswers(): Promise<void> {
  const digests: Record<string, string> = {};
  for (const subject of Object.keys(subjects)) {
    for (const [title, answers] of await answersTo(subject)) {
      digests[title] = answers.map(digestOf).join(' ');
    }
  }
  writeFileSync(recording, `${JSON.stringify(digests, null, 2)}\n`);
}

async function answersTo(subject: string): Promise<ReadonlyMap<string, readonly Answer[]>> {
  const scenarios = subjects[subject]?.(seed) ?? [];
  const server = await startEmbedded();
  try {
    const answers = await answersOf(server, scenarios);
    return new Map(scenarios.map(({ title }, index) => [title, answers[index] ?? []]));
  } finally {
    await server.stop();
  }
}

function digestOf(answer: Answer): string {
  const body = Array.isArray(answer.body) ? answer.body.filter(isTimely) : answer.body;
  return createHash('sha1')
    .update(JSON.stringify({ ...answer, body }))
    .digest('hex')
    .slice(0, 6);
}

/** Whether an event of a watch is sent at any speed of the machine: a bookmark may miss the end of its watch. */
function isTimely(event: unknown): boolean {
  const { type, object } = event as { type?: unknown; object?: { metadata?: object } };
  return type !== 'BOOKMARK' || 'annotations' in (object?.metadata ?? {});
}
