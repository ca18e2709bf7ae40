import { itAnswersAsRecorded, recordedSubjects } from './recorded-answers.js';

// A file of its own, so that it runs beside the others.
describe('the recorded answers of a real server to requests by every verb', function () {
  this.timeout(120_000);

  itAnswersAsRecorded(recordedSubjects.verbs);
});
