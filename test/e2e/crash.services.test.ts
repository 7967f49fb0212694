import '../support/with-services.ts';
import './crash.test.ts';
