import { itAnswersAsRecorded, recordedSubjects } from './recorded-answers.js';

// A file of its own, so that it runs beside the others.
describe('the recorded answers of a real server to objects with unusual values', function () {
  this.timeout(120_000);

  itAnswersAsRecorded(recordedSubjects.fields);
});
