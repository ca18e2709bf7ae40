import { itAnswersAsRecorded, recordedSubjects } from './recorded-answers.js';

// A file of its own, so that it runs beside the others.
describe('the recorded answers of a real server to the parts of objects', function () {
  this.timeout(120_000);

  itAnswersAsRecorded(recordedSubjects.parts);
});
