import '../support/with-services.ts';
import './paging.test.ts';
