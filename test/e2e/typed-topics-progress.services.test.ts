import '#test/support/processes/with-services.ts';
import './typed-topics-progress.test.ts';
