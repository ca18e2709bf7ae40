import { itAnswersAsRecorded, recordedSubjects } from './recorded-answers.js';

// These specs have their own file, because mocha runs files in parallel.
describe('the recorded answers of a real server to requests about single fields of objects', function () {
  this.timeout(120_000);

  itAnswersAsRecorded(recordedSubjects.parts);
});
