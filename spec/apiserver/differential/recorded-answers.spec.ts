import { expect } from 'chai';
import { answersOf } from './comparison.js';
import {
  digestOf,
  recordedAnswers,
  recordedRun,
  recordedSeed,
  recordedSubjects,
} from './recorded-answers.js';
import { embeddedInProcess } from './servers.js';
import type { Server } from './servers.js';
import { subjects } from './subjects/index.js';

describe('the recorded answers of a real server', function () {
  this.timeout(120_000);

  for (const subject of recordedSubjects) {
    it(`are those of the embedded server about ${subject}`, async () => {
      const server = embeddedInProcess();
      const problems = await problemsOf(subject, server);
      await server.stop();
      const remedy = `npm run differential -- --subject ${subject}`;
      expect(problems, `${remedy} shows the differences`).to.deep.equal([]);
    });
  }
});

/** Returns a line for each answer that is not the recorded one. */
async function problemsOf(subject: string, server: Server): Promise<readonly string[]> {
  const scenarios = subjects[subject]?.(recordedSeed) ?? [];
  const recorded = recordedAnswers(subject);
  expect([...recorded.keys()]).to.deep.equal(scenarios.map(({ title }) => title));
  const answers = await answersOf(server, scenarios, recordedRun(subject));
  return scenarios.flatMap(({ title, requests }, index) => {
    const given = (answers[index] ?? []).map(digestOf);
    const wanted = recorded.get(title) ?? [];
    const steps = requests.slice(0, Math.max(given.length, wanted.length));
    return steps.flatMap(({ method, path }, step) => {
      const { [step]: got = 'none' } = given;
      const { [step]: want = 'none' } = wanted;
      const problem = `${title}, ${step}: ${method} ${path}: got ${got}, want ${want}`;
      return wanted[step] === null || got === want ? [] : [problem];
    });
  });
}
