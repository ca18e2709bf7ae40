import { expect } from 'chai';
import { itAnswersAsRecorded, recordedSubjects, unrecordedSubjects } from './recorded-answers.js';
import { subjects } from './subjects/index.js';

describe('the recorded answers of a real server to requests for built-in objects', function () {
  this.timeout(120_000);

  itAnswersAsRecorded(recordedSubjects.objects);

  it('exist for every subject except those that depend on real time', () => {
    const known = [...Object.values(recordedSubjects).flat(), ...unrecordedSubjects];
    expect(known).to.have.members(Object.keys(subjects));
  });
});
