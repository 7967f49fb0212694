import '../support/with-services.ts';
import './actions.test.ts';
