import '#test/support/processes/with-services.ts';
import './paging.test.ts';
